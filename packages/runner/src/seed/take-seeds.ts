// The runner's side: seeds the home in a process of its own, and says what was taken. Nothing here keeps the CLI from starting.
import type { SeedSpec } from "../records.ts";
import { answerWithin, startStateTask } from "../state/state-task.ts";

/** A volume that is slower than this has other troubles, which are told elsewhere. */
const PATIENCE_MS = 20_000;

export async function takeSeeds(runnerFile: string, seed: SeedSpec, isStopped: () => boolean): Promise<string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  const answer = await answerWithin(startStateTask(runnerFile, { act: "seed", ...seed }), () =>
    isStopped() ? 0 : deadline - performance.now(),
  );
  if (answer === null) return [`nothing was taken over from ${seed.from}: no answer within ${PATIENCE_MS / 1000} s`];
  if (answer.kind === "failed") return [`nothing was taken over from ${seed.from}: ${answer.error}`];
  return [
    ...(answer.taken.length === 0 ? [] : [`taken over from ${seed.from}: ${answer.taken.join(", ")}`]),
    ...(answer.problems.length === 0 ? [] : [`not taken over from ${seed.from}: ${answer.problems.join(", ")}`]),
  ];
}
