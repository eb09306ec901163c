import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { expect, test } from "vitest";
import { factsOf, finished, jobView, podView, running, terminated, waiting } from "../cluster/example-run.ts";
import { verdict } from "../cluster/verdict.ts";
import { judgeJob } from "./judge-job.ts";

// Begun at 00:00 and finished at 01:00 on that day.
const now = Date.parse("2026-01-01T03:00:00Z");
const hour = { olderThanSec: 3600, now };
const done = jobView(finished("Complete"));
const run = jobView({ annotations: { [ANNOTATION.nonce]: "n" } });
const pending = podView(waiting, { phase: "Pending" });
const ended = podView(terminated(0), { phase: "Succeeded" });

const found = (job: typeof done, pods: readonly ReturnType<typeof podView>[], ours = true) => {
  const facts = factsOf({ job, pods });
  return { namespace: "agents", job, pods, runIds: ["r"], ours, verdict: verdict(facts) };
};
const secretOf = (...ownerUids: string[]) => ({ name: "s", uid: "su", createdAt: null, deletedAt: null, ownerUids });

test("finished, its pod over or gone, and old enough: may go", () => {
  expect(judgeJob(found(done, [ended]), [], hour)).toEqual({ state: "over", why: "finished: the agent exited with code 0" });
  expect(judgeJob(found(done, []), [], hour)).toEqual({ state: "over", why: "finished, and its pod is gone" });
  expect(judgeJob(found(done, [ended]), null, hour)?.state).toBe("over");
});

test("a run's Job without its Secret cannot start, with a pod or without", () => {
  for (const pods of [[], [pending], [podView(null, { phase: "Pending" })]])
    expect(judgeJob(found(run, pods), [secretOf("another")], hour)).toEqual({
      state: "over",
      why: "never got its Secret, so it cannot start",
    });
});

test.each([
  ["not old enough", found(done, [ended]), { olderThanSec: 3 * 3600, now }],
  ["not finished yet", found(jobView(), [ended]), hour],
  ["at work", found(run, [podView(running)]), hour],
  ["going already", found(jobView({ ...finished("Complete"), deletedAt: "2026-01-01T02:00:00Z" }), [ended]), hour],
  ["somebody else's, at work", found(jobView(), [podView(running)], false), hour],
  ["waits for a node, with its Secret", found({ ...run, uid: "job-uid" }, [pending]), hour, [secretOf("job-uid")]],
  ["begun, and its Secret deleted under it", found(run, [podView(running)]), hour],
  ["hands a volume over: has no Secret by design", found(jobView(), [pending]), hour],
])("%s: nothing is said of it", (_, one, span, secrets: ReturnType<typeof secretOf>[] = []) => {
  expect(judgeJob(one, secrets, span)).toBeNull();
});

test.each([
  [/its node|does not answer/, found(done, [podView(running, { phase: "Unknown" })]), hour, []],
  [/does not answer/, found(run, [podView(running, { phase: "Unknown" })]), hour, []],
  [/not started by this version/, found(done, [ended], false), hour, []],
  [/whether it has its Secret cannot be seen/, found(run, [pending]), hour, null],
  [/may be about to make it/, found(run, [pending]), { olderThanSec: 1, now: Date.parse("2026-01-01T00:01:00Z") }, []],
])("%s: told, and left alone", (why, one, span, secrets) => {
  expect(judgeJob(one, secrets, span)).toEqual({ state: "unproved", why: expect.stringMatching(why) });
});
