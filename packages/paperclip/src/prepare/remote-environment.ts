import { isRecord, recordOf, textOf } from "../host/context-values.ts";
import type { ExecutionContext } from "../host/types.ts";
import { ConfigError } from "../settings/config-error.ts";

type Remote = Pick<ExecutionContext, "executionTarget" | "executionTransport"> & Partial<Pick<ExecutionContext, "context">>;

/** An agent that was given an environment of the host, such as one over SSH, would expect its files and tools there, and a Job runs elsewhere. */
export function refuseRemote({ executionTarget, executionTransport, context = {} }: Remote): void {
  const { kind = "local" } = recordOf(executionTarget);
  // The older form of the same, which the built-in adapters still read.
  if (kind === "local" && !isRecord(executionTransport?.remoteExecution)) return;
  const environment = recordOf(context.paperclipEnvironment);
  const name = textOf(environment.name) ?? "remote";
  const driver = textOf(environment.driver);
  throw new ConfigError(
    "environment",
    `this agent is to run in the environment "${name}"${driver === null ? "" : ` (${driver})`}, and this adapter runs agents as Kubernetes Jobs. ` +
      "Choose the local environment on the agent's page, or pause this adapter so that the built-in one runs it there",
  );
}
