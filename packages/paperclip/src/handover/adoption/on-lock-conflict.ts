import type { LockDecision, LockOwner, RunIo } from "@paperclip-k8s/engine";
import { apiOfRun, type HostApi } from "../../host/api.ts";
import { textOf } from "../../host/context-values.ts";
import { readRun, retriedRuns } from "../../host/runs.ts";
import type { Attempt, RunInputs } from "../../prepare/attempt.ts";
import { taskOf } from "../../prepare/environment/facts.ts";
import { exclusiveKey } from "../../prepare/request.ts";
import { decide } from "./decision.ts";

/** Asks the host whether this run may take over a Job that has its lock. Undefined = there is no way to ask, and every Job is waited for. */
export function onLockConflict({ inputs, sessionId }: Attempt): NonNullable<RunIo["onLockConflict"]> | undefined {
  const api = apiOfRun(inputs.ctx, inputs.serverEnv);
  return api === null ? undefined : decideWith(api, inputs, sessionId, exclusiveKey(inputs));
}

export function decideWith(
  api: HostApi,
  { ctx, config }: Pick<RunInputs, "ctx" | "config">,
  session: string | null,
  exclusive: string,
): (owner: LockOwner) => Promise<LockDecision> {
  const own = { task: taskOf(ctx), session, wakeReason: textOf(ctx.context.wakeReason), reattach: config.reattachOrphanedJobs, exclusive };
  const retryOf = textOf(ctx.context.retryOfRunId);
  const finishedAt = new Map<string, number>();
  return async (owner) => {
    if (owner.runId === null) return { kind: "wait" };
    if (owner.finished && !finishedAt.has(owner.uid)) finishedAt.set(owner.uid, Date.now());
    try {
      const run = await readRun(api, owner.runId);
      const isRetry = await isRetryOf(owner.runId, retryOf, api);
      return decide({ owner, run, own, isRetry, finishedMs: Date.now() - (finishedAt.get(owner.uid) ?? Date.now()) });
    } catch {
      // The host cannot be asked now.
      return { kind: "wait", undecided: true };
    }
  };
}

async function isRetryOf(wanted: string, first: string | null, api: HostApi): Promise<boolean> {
  for await (const id of retriedRuns(first, (each) => readRun(api, each))) if (id === wanted) return true;
  return false;
}
