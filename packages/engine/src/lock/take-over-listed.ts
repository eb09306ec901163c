import type { RunContext } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { type LockDecision, lockOwnerOf } from "./lock-owner.ts";
import { type Adoption, adopt } from "./take-over.ts";
import { unlessAborted } from "./wait-for-lock.ts";

/**
 * After a restart hundreds of Jobs are there. One that is this run's to go on with is taken as the list shows it: without a create that fails,
 * and a look at what was in its way. Null = it is not, or the list is behind: the create decides.
 */
export async function takeListed(context: RunContext): Promise<{ readonly adopted: Adoption } | { readonly refused: OutcomeKind } | null> {
  const { request, submission, watch, settled, io } = context;
  if (request.exclusive === null) return null;
  const job = watch.jobs().find(({ name }) => name === submission.jobName);
  if (job === undefined || job.deletedAt !== null || settled.has(job.uid)) return null;
  const holder = lockOwnerOf(job, request.keys);
  if (!holder.ours) return null;
  const leaving = AbortSignal.any([io.signal, ...(io.detach ? [io.detach] : [])]);
  const ask = async (): Promise<LockDecision> => (await io.onLockConflict?.(holder)) ?? { kind: "wait" };
  const verdict: LockDecision = holder.runId === request.runId ? { kind: "adopt" } : await unlessAborted(ask(), leaving);
  if (verdict.kind !== "adopt") return null;
  const result = await adopt(context, job);
  if (result.kind === "refused") return { refused: result.why };
  return result.kind === "adopted" ? { adopted: result.adoption } : null;
}
