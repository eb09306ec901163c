import type { LockDecision, LockOwner, RunIo } from "@paperclip-k8s/engine";
import { textOf } from "../../host/context-values.ts";
import { type RunReader, runReader } from "../../host/host-runs.ts";
import type { Attempt, RunInputs } from "../../prepare/attempt.ts";
import { taskOf } from "../../prepare/environment/facts.ts";
import { verdictOn } from "./decision.ts";

const MAX_HOPS = 10;

/** Whether a Job that holds this run's key is this run's to continue: the host is asked. Without a way to ask, every Job is waited for. */
export function onLockConflict({ inputs, sessionId }: Attempt): NonNullable<RunIo["onLockConflict"]> | undefined {
  const read = runReader(inputs.ctx, inputs.serverEnv);
  return read === null ? undefined : decideWith(read, inputs, sessionId);
}

export function decideWith(
  read: RunReader,
  { ctx, config }: Pick<RunInputs, "ctx" | "config">,
  sessionId: string | null,
): (holder: LockOwner) => Promise<LockDecision> {
  const own = { task: taskOf(ctx), session: sessionId, wakeReason: textOf(ctx.context.wakeReason), reattach: config.reattachOrphanedJobs };
  const finishedAt = new Map<string, number>();
  return async (holder) => {
    if (holder.runId === null) return { kind: "wait" };
    if (holder.finished && !finishedAt.has(holder.uid)) finishedAt.set(holder.uid, Date.now());
    try {
      const run = await read(holder.runId);
      const isRetry = await leadsTo(holder.runId, textOf(ctx.context.retryOfRunId), read);
      return verdictOn({ holder, run, own, isRetry, finishedMs: Date.now() - (finishedAt.get(holder.uid) ?? Date.now()) });
    } catch {
      // Cannot tell is no answer: it is asked again.
      return { kind: "wait" };
    }
  };
}

/** Follows the chain of retries back. A run that was cancelled ends it: what somebody stopped is not gone on with. */
async function leadsTo(wanted: string, first: string | null, read: RunReader): Promise<boolean> {
  let id = first;
  for (let hop = 0; id !== null && hop < MAX_HOPS; hop++) {
    if (id === wanted) return true;
    const run = await read(id);
    if (run === "missing" || (run.status === "cancelled" && !run.superseded)) return false;
    id = run.retryOfRunId;
  }
  return false;
}
