import type { Adoption, Engine } from "@paperclip-k8s/engine";
import type { InvocationMeta } from "../host/types.ts";
import type { Attempt } from "../prepare/attempt.ts";
import { buildMeta } from "../prepare/prompt/build-meta.ts";
import { withoutTokens } from "../prepare/prompt/redact.ts";
import { buildRequest } from "../prepare/request.ts";

/** Reports the attempt to the host once: when it has its Job, or at its end if it got none. A host that fails at it does not stop the run. */
export function createAnnouncement(attempt: Attempt, engine: Engine): (adopted: Adoption | null) => Promise<void> {
  const { ctx } = attempt.inputs;
  let made: Promise<void> | null = null;
  const announce = async (adopted: Adoption | null): Promise<void> => {
    const meta = adopted === null ? await metaOf(attempt, engine) : adoptedMeta(attempt, adopted);
    ctx.onDispatch?.();
    await ctx.onMeta?.(meta);
  };
  return (adopted) => {
    made ??= announce(adopted).catch(() => {});
    return made;
  };
}

function metaOf(attempt: Attempt, engine: Engine): Promise<InvocationMeta> {
  const { inputs, env, prompt, plan } = attempt;
  const { ctx, config, inherited, cwd } = inputs;
  return buildMeta({
    adapterType: inputs.cli.type,
    jobName: engine.jobNameOf(buildRequest(attempt)),
    cwd,
    argv: plan.argv,
    image: inherited.image,
    namespace: inherited.namespace,
    timeoutSec: config.timeoutSec,
    notes: [...plan.notes, ...inherited.notes],
    env,
    prompt,
    ctx,
  });
}

/** Of a run that took another one's Job over: it started nothing of its own. */
function adoptedMeta({ inputs: { cli, ctx, cwd, inherited } }: Attempt, { job, fromRun, firstRun }: Adoption): InvocationMeta {
  return {
    adapterType: cli.type,
    command: `kubectl job/${job.name}`,
    cwd,
    commandArgs: [],
    commandNotes: [
      ...(job.image === null ? [] : [`image ${job.image}`]),
      `namespace ${inherited.namespace}`,
      `adopted from run ${fromRun}${firstRun === fromRun ? "" : `, started by run ${firstRun}`}`,
    ],
    env: {},
    prompt: "",
    context: withoutTokens(ctx.context, ctx.authToken === undefined ? [] : [ctx.authToken]),
  };
}
