import type { Adoption } from "@paperclip-k8s/engine";
import type { InvocationMeta } from "../../host/types.ts";
import type { Turn } from "../../prepare/attempt.ts";
import { withoutTokens } from "../../prepare/prompt/without-tokens.ts";

/** What the host shows about a run that goes on with another one's Job: nothing of its own was started. */
export function adoptedMeta({ cli, ctx, cwd, inherited }: Turn, { job, fromRun, firstRun }: Adoption): InvocationMeta {
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
