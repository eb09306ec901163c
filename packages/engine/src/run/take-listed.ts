import { type Adoption, adopt } from "./adopt.ts";
import { type HolderVerdict, holderOf } from "./holder.ts";
import type { RunContext } from "./io.ts";
import type { OutcomeKind } from "./outcome.ts";
import { unlessAborted } from "./wait-for-holder.ts";

/**
 * After a restart hundreds of Jobs are there. One that is this run's to go on with is taken as the list shows it: without a create that fails,
 * and a look at what was in its way. Null = it is not, or the list is behind: the create decides.
 */
export async function takeListed(context: RunContext): Promise<{ readonly adopted: Adoption } | { readonly refused: OutcomeKind } | null> {
  const { request, submission, watch, settled, io } = context;
  if (request.exclusive === null) return null;
  const job = watch.jobs().find(({ name }) => name === submission.jobName);
  if (job === undefined || job.deletedAt !== null || settled.has(job.uid)) return null;
  const holder = holderOf(job, request.keys);
  if (!holder.ours) return null;
  const leaving = AbortSignal.any([io.signal, ...(io.detach ? [io.detach] : [])]);
  const ask = async (): Promise<HolderVerdict> => (await io.judgeHolder?.(holder)) ?? { kind: "wait" };
  const verdict: HolderVerdict = holder.runId === request.runId ? { kind: "adopt" } : await unlessAborted(ask(), leaving);
  if (verdict.kind !== "adopt") return null;
  const result = await adopt(context, job);
  if (result.kind === "refused") return { refused: result.why };
  return result.kind === "adopted" ? { adopted: result.adoption } : null;
}
