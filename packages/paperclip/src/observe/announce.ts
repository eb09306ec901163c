import type { Adoption, Engine } from "@paperclip-k8s/engine";
import type { InvocationMeta } from "../host/types.ts";
import type { Attempt, RunInputs } from "../prepare/attempt.ts";
import { MASK, withoutSecrets, withoutTokens } from "../prepare/prompt/redact.ts";
import { buildRequest } from "../prepare/request.ts";

/** Reports the attempt to the host once: when it has its Job, or at its end if it got none. A host that fails at it does not stop the run. */
export function createAnnouncement(attempt: Attempt, engine: Engine): (adopted: Adoption | null) => Promise<void> {
  const { ctx } = attempt.inputs;
  let made: Promise<void> | null = null;
  const announce = async (adopted: Adoption | null): Promise<void> => {
    const meta = adopted === null ? await metaOf(attempt, engine.jobNameOf(buildRequest(attempt))) : adoptedMeta(attempt.inputs, adopted);
    ctx.onDispatch?.();
    await ctx.onMeta?.(meta);
  };
  return (adopted) => {
    made ??= announce(adopted).catch(() => {});
    return made;
  };
}

/** What the host shows about the start of an attempt. */
export async function metaOf({ inputs, env, prompt, plan }: Attempt, jobName: string): Promise<InvocationMeta> {
  const { buildInvocationEnvForLogs } = await import("../prepare/prompt/host-rendering.ts");
  const { image, namespace, notes } = inputs.inherited;
  const { timeoutSec } = inputs.config;
  // Only the names of secrets and references are shown: the host's own redaction does not see passwords in URLs.
  const hidden = [...env.references.map((reference) => reference.name), ...Object.keys(env.secret)];
  const args = withoutSecrets(plan.argv.map((arg) => (typeof arg === "string" ? arg : `<file ${arg.file}>`)));
  const limit = timeoutSec === 0 ? "no time limit" : `time limit ${timeoutSec} s`;
  return {
    ...commonMeta(inputs, jobName),
    commandArgs: [...args, `<stdin prompt ${prompt.text.length} chars>`],
    commandNotes: [`image ${image}`, `namespace ${namespace}`, limit, ...prompt.notes, ...plan.notes, ...notes],
    env: { ...Object.fromEntries(hidden.map((name) => [name, MASK])), ...buildInvocationEnvForLogs({ ...env.plain }) },
    prompt: prompt.text,
    promptMetrics: { ...prompt.metrics },
  };
}

/** Of a run that took another one's Job over: it started nothing of its own. */
function adoptedMeta(inputs: RunInputs, { job, fromRun, firstRun }: Adoption): InvocationMeta {
  return {
    ...commonMeta(inputs, job.name),
    commandArgs: [],
    commandNotes: [
      ...(job.image === null ? [] : [`image ${job.image}`]),
      `namespace ${inputs.inherited.namespace}`,
      `adopted from run ${fromRun}${firstRun === fromRun ? "" : `, started by run ${firstRun}`}`,
    ],
    env: {},
    prompt: "",
  };
}

function commonMeta({ cli, ctx, cwd }: RunInputs, jobName: string) {
  const context = withoutTokens(ctx.context, ctx.authToken === undefined ? [] : [ctx.authToken]);
  return { adapterType: cli.type, command: `kubectl job/${jobName}`, cwd, context };
}
