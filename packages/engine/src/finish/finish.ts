import type { RunContext } from "../run-context.ts";
import type { RunOutcome } from "../run-outcome.ts";
import { cleanUp, whyKept } from "./clean-up.ts";

/** These have a result that nothing but the Job and its files could give again. */
const WITH_RESULT: ReadonlySet<RunOutcome["kind"]> = new Set(["exited", "timed-out", "killed"]);

/** Cleans up: before the result is given, or some time after it, where the result is worth keeping until the caller has stored it. */
export async function settle(
  context: RunContext,
  outcome: RunOutcome,
  { lingerMs, release }: { readonly lingerMs: number; readonly release: () => void },
): Promise<void> {
  const { run, settled } = context;
  const { jobUid } = run.state.identity;
  const stays = outcome.kind === "detached" || outcome.kind === "superseded";
  // What is kept anyway is named before the result.
  const lingers = lingerMs > 0 && WITH_RESULT.has(outcome.kind) && whyKept(context, outcome) === null;
  if (jobUid !== null && lingers) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, lingerMs).unref();
    settled.add(jobUid, resolve);
    void promise.then(() => cleanUp(context, outcome, { late: true, done: release }));
    return;
  }
  if (jobUid !== null && !stays) settled.add(jobUid, () => {});
  await cleanUp(context, outcome, { late: false, done: release });
}
