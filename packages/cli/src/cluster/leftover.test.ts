import { expect, test } from "vitest";
import { factsOf, finished, jobView, podView, running, terminated } from "./example-run.ts";
import { isLeftover } from "./leftover.ts";
import { verdict } from "./verdict.ts";

// Finished at 01:00 on that day.
const job = jobView(finished("Complete"));
const now = Date.parse("2026-01-01T03:00:00Z");
const found = (change: { job?: typeof job; pods?: ReturnType<typeof podView>[]; ours?: boolean }) => {
  const facts = factsOf({ job, ...change });
  return {
    namespace: "agents",
    job: change.job ?? job,
    pods: facts.pods,
    runIds: ["r"],
    ours: change.ours ?? true,
    verdict: verdict(facts),
  };
};
const over = podView(terminated(0), { phase: "Succeeded" });

test("finished, its pod over or gone, and old enough", () => {
  expect(isLeftover(found({ pods: [over] }), 3600, now)).toBe(true);
  expect(isLeftover(found({ pods: [] }), 3600, now)).toBe(true);
});

test.each([
  ["not old enough", found({ pods: [over] }), 3 * 3600],
  ["not finished", found({ job: jobView(), pods: [over] }), 1],
  ["its pod still runs", found({ pods: [podView(running)] }), 1],
  ["somebody else's", found({ pods: [over], ours: false }), 1],
  ["going already", found({ job: jobView({ ...finished("Complete"), deletedAt: "2026-01-01T02:00:00Z" }), pods: [over] }), 1],
  ["its node does not answer", found({ pods: [podView(running, { phase: "Unknown" })] }), 1],
])("%s: left alone", (_, one, olderThanSec) => {
  expect(isLeftover(one, olderThanSec, now)).toBe(false);
});
