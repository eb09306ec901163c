import type { Argument } from "@paperclip-k8s/engine";
import type { ExecutionContext, InvocationMeta } from "../../host/types.ts";
import type { PodEnv } from "../environment/build-env.ts";
import type { PreparedPrompt } from "./prepare-prompt.ts";
import { MASK, withoutSecrets, withoutTokens } from "./redact.ts";

export interface MetaInput {
  readonly adapterType: string;
  readonly jobName: string;
  readonly cwd: string;
  readonly argv: readonly Argument[];
  readonly image: string;
  readonly namespace: string;
  /** 0 = no limit. */
  readonly timeoutSec: number;
  /** Of the CLI's plan and others. */
  readonly notes: readonly string[];
  readonly env: Pick<PodEnv, "plain" | "secret" | "references">;
  readonly prompt: PreparedPrompt;
  readonly ctx: Pick<ExecutionContext, "context" | "authToken">;
}

/** What the host shows about the start of a run. */
export async function buildMeta(input: MetaInput): Promise<InvocationMeta> {
  const { prompt, env, ctx } = input;
  const { buildInvocationEnvForLogs } = await import("./host-rendering.ts");
  // Only the names of secrets and references are shown: the host's own redaction does not see passwords in URLs.
  const hidden = [...env.references.map((reference) => reference.name), ...Object.keys(env.secret)];
  return {
    adapterType: input.adapterType,
    command: `kubectl job/${input.jobName}`,
    cwd: input.cwd,
    commandArgs: [
      ...withoutSecrets(input.argv.map((arg) => (typeof arg === "string" ? arg : `<file ${arg.file}>`))),
      `<stdin prompt ${prompt.text.length} chars>`,
    ],
    commandNotes: [
      `image ${input.image}`,
      `namespace ${input.namespace}`,
      input.timeoutSec === 0 ? "no time limit" : `time limit ${input.timeoutSec} s`,
      ...prompt.notes,
      ...input.notes,
    ],
    env: { ...Object.fromEntries(hidden.map((name) => [name, MASK])), ...buildInvocationEnvForLogs({ ...env.plain }) },
    prompt: prompt.text,
    promptMetrics: { ...prompt.metrics },
    context: withoutTokens(ctx.context, ctx.authToken === undefined ? [] : [ctx.authToken]),
  };
}
