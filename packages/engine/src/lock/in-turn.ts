import { deferred } from "../deferred.ts";
import type { JobView } from "../kube/views.ts";
import { awaitView } from "../kube/watch/await-view.ts";
import type { RunWatch } from "../kube/watch/run-watch.ts";
import { unlessLeaving } from "../retry.ts";
import type { RunContext } from "../run-context.ts";

/** A Job that was just made is in the watch within milliseconds, unless something is wrong. */
const SEEN_MS = 5000;

/** The end of the turn of whoever came last, by the work that they do. */
const turns = new WeakMap<RunWatch, Map<string, Promise<void>>>();

/**
 * Runs that do the same work under different keys have Jobs of different names, so that no create is refused. They look for each other's Jobs and
 * make their own one after the other: each sees the Job that the one before has made.
 */
export async function inTurn<T extends { readonly kind: string; readonly job?: JobView }>(
  context: RunContext,
  lookAndCreate: () => Promise<T>,
): Promise<T> {
  const { watch, request, clock, leaving } = context;
  if (request.sameWork === undefined) return lookAndCreate();
  const ofWatch = turns.get(watch) ?? new Map<string, Promise<void>>();
  turns.set(watch, ofWatch);
  const work = JSON.stringify(request.sameWork);
  const before = ofWatch.get(work);
  const { promise: ended, resolve: end } = deferred<void>();
  ofWatch.set(work, ended);
  void ended.then(() => ofWatch.get(work) === ended && ofWatch.delete(work));
  let seen: Promise<unknown> = Promise.resolve();
  try {
    if (before !== undefined) await unlessLeaving(leaving, before);
    const tried = await lookAndCreate();
    if (tried.kind === "created" && tried.job !== undefined) seen = awaitView(watch, tried.job, () => true, clock, SEEN_MS);
    return tried;
  } finally {
    // Also of a run that leaves while it waits: whoever comes next still waits for the ones before it.
    void Promise.all([before, seen]).finally(end);
  }
}
