import { recordOf, textOf } from "../host/context-values.ts";
import type { ExecutionContext } from "../host/types.ts";
import { ConfigError } from "../settings/config-error.ts";

type Remote = Pick<ExecutionContext, "executionTarget"> & Partial<Pick<ExecutionContext, "context">>;

/** An agent that was given an environment of the host, such as one over SSH, would expect its files and tools there, and a Job runs elsewhere. */
export function refuseRemote({ executionTarget, context = {} }: Remote): void {
  if (executionTarget?.kind !== "remote") return;
  const environment = recordOf(context.paperclipEnvironment);
  const name = textOf(environment.name) ?? "remote";
  const driver = textOf(environment.driver);
  throw new ConfigError(
    "environment",
    `this agent is to run in the environment "${name}"${driver === null ? "" : ` (${driver})`}, and this adapter runs agents as Kubernetes Jobs. ` +
      "Choose the local environment on the agent's page, or pause this adapter so that the built-in one runs it there",
  );
}
