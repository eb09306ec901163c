import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { describe, expect, test } from "vitest";
import { jobState } from "../cluster/job-state.ts";
import { endRecord, factsOf, finished, jobView, podView, running, terminated, waiting } from "../testing/example-run.ts";
import { decideFiles, decideJob, decidePod, decideSecret } from "./decision.ts";

// Started at 00:00 and finished at 01:00 on that day.
const now = Date.parse("2026-01-01T03:00:00Z");
const hour = { olderThanSec: 3600, now };

describe("Jobs", () => {
  const done = jobView(finished("Complete"));
  const run = jobView({ annotations: { [ANNOTATION.nonce]: "n" } });
  const pending = podView(waiting, { phase: "Pending" });
  const ended = podView(terminated(0), { phase: "Succeeded" });

  const found = (job: typeof done, pods: readonly ReturnType<typeof podView>[], ours = true) => {
    const facts = factsOf({ job, pods });
    return { namespace: "agents", job, pods, runIds: ["r"], ours, state: jobState(facts) };
  };
  const secretOf = (...ownerUids: string[]) => ({ name: "s", uid: "su", createdAt: null, deletedAt: null, ownerUids });

  test("finished, its pod ended or gone, and old enough: may go", () => {
    expect(decideJob(found(done, [ended]), [], hour)).toEqual({ kind: "remove", why: "finished: the agent exited with code 0" });
    expect(decideJob(found(done, []), [], hour)).toEqual({ kind: "remove", why: "finished, and its pod is gone" });
    expect(decideJob(found(done, [ended]), null, hour)?.kind).toBe("remove");
  });

  test("the agent has ended, and a container beside it keeps the Job from finishing: may go when that was long ago", () => {
    const why = "the agent exited with code 0, and the Job does not finish";
    expect(decideJob(found(jobView(), [ended]), [], hour)).toEqual({ kind: "remove", why });
    expect(decideJob(found(jobView(), [ended]), [], { ...hour, now: Date.parse("2026-01-01T01:30:00Z") })).toBeNull();
  });

  test("a pod whose Job was deleted without it: may go when it has ended, and is only named while it works", () => {
    const old = { createdAt: "2026-01-01T00:00:00Z" };
    expect(decidePod(podView(terminated(0), { ...old, phase: "Succeeded" }), [], hour)?.kind).toBe("remove");
    expect(decidePod(podView(running, old), [], hour)).toMatchObject({ kind: "keep", why: expect.stringContaining("may still work") });
    const pod = podView(running, old);
    expect(decidePod(pod, [jobView({ uid: pod.jobUid })], hour)).toBeNull();
  });

  test("a run's Job without its Secret cannot start, with a pod or without", () => {
    for (const pods of [[], [pending], [podView(null, { phase: "Pending" })]])
      expect(decideJob(found(run, pods), [secretOf("another")], hour)).toEqual({
        kind: "remove",
        why: "never got its Secret, so it cannot start",
      });
  });

  test.each([
    ["not old enough", found(done, [ended]), { olderThanSec: 3 * 3600, now }],
    ["at work", found(run, [podView(running)]), hour],
    ["going already", found(jobView({ ...finished("Complete"), deletedAt: "2026-01-01T02:00:00Z" }), [ended]), hour],
    ["somebody else's, at work", found(jobView(), [podView(running)], false), hour],
    ["waits for a node, with its Secret", found({ ...run, uid: "job-uid" }, [pending]), hour, [secretOf("job-uid")]],
    ["begun, and its Secret deleted under it", found(run, [podView(running)]), hour],
    ["sets volume ownership: has no Secret by design", found(jobView(), [pending]), hour],
  ])("%s: not listed", (_, one, span, secrets: ReturnType<typeof secretOf>[] = []) => {
    expect(decideJob(one, secrets, span)).toBeNull();
  });

  test.each([
    [/its node|does not answer/, found(done, [podView(running, { phase: "Unknown" })]), hour, []],
    [/does not answer/, found(run, [podView(running, { phase: "Unknown" })]), hour, []],
    [/not started by this version/, found(done, [ended], false), hour, []],
    [/whether it has its Secret cannot be seen/, found(run, [pending]), hour, null],
    [/may be about to make it/, found(run, [pending]), { olderThanSec: 1, now: Date.parse("2026-01-01T00:01:00Z") }, []],
  ])("%s: listed, and left alone", (why, one, span, secrets) => {
    expect(decideJob(one, secrets, span)).toEqual({ kind: "keep", why: expect.stringMatching(why) });
  });
});

describe("Secrets", () => {
  const secret = { name: "s", uid: "su", createdAt: "2026-01-01T00:00:00Z", deletedAt: null, ownerUids: ["job-uid"] };

  test("its Job is gone, and nobody can use it", () => {
    expect(decideSecret(secret, [], [], hour)).toEqual({ kind: "remove", why: "its Job is gone" });
    expect(decideSecret({ ...secret, ownerUids: [] }, [jobView()], [podView(running)], hour)?.kind).toBe("remove");
    expect(decideSecret(secret, [], [podView(terminated(0), { phase: "Succeeded" })], hour)?.kind).toBe("remove");
  });

  test("a pod that outlived its Job may use it: left alone", () => {
    expect(decideSecret(secret, [], [podView(running)], hour)).toEqual({
      kind: "keep",
      why: expect.stringContaining("pod otto-pod may"),
    });
  });

  test("its Job is there, it goes already, or it is young: not listed", () => {
    expect(decideSecret(secret, [jobView()], [], hour)).toBeNull();
    expect(decideSecret({ ...secret, deletedAt: "2026-01-01T02:00:00Z" }, [], [], hour)).toBeNull();
    expect(decideSecret({ ...secret, createdAt: "2026-01-01T02:30:00Z" }, [], [], hour)).toBeNull();
    expect(decideSecret({ ...secret, createdAt: null }, [], [], hour)).toBeNull();
  });
});

describe("files", () => {
  const files = { name: "c/a/r1.pod.ndjson", run: "r1", root: "/data", paths: [], bytes: 1, writtenAt: "2026-01-01T00:00:00Z", end: null };
  const job = (annotations: Record<string, string>) => jobView({ annotations });

  test("its Job is gone and the end is on record: may go", () => {
    expect(decideFiles({ ...files, end: endRecord() }, [job({ [ANNOTATION.runId]: "r2" })], null, hour)).toEqual({
      kind: "remove",
      why: "its Job is gone; the runner recorded the end at 2026-01-01T00:58:59Z",
    });
  });

  test("no end on record: only who sees all namespaces can tell", () => {
    expect(decideFiles(files, [], null, hour)).toEqual({ kind: "keep", why: expect.stringContaining("another namespace") });
    expect(decideFiles(files, [], [], hour)).toEqual({ kind: "remove", why: "no Job in any namespace works for its run" });
    expect(decideFiles(files, [], [job({ [ANNOTATION.runId]: "r1" })], hour)).toBeNull();
  });

  test.each([
    ["works for the run", { [ANNOTATION.runId]: "r1" }],
    ["was started for it and taken over", { [ANNOTATION.runId]: "r3", [ANNOTATION.adoptedFrom]: "r1,r2" }],
    ["was started for it, long ago", { [ANNOTATION.runId]: "r3", [ANNOTATION.firstRun]: "r1" }],
    ["writes to that file", { [ANNOTATION.output]: "/paperclip/instances/default/data/run-logs/c/a/r1.pod.ndjson" }],
  ])("a Job that %s: not listed", (_, annotations) => {
    expect(decideFiles({ ...files, end: endRecord() }, [job(annotations)], null, hour)).toBeNull();
  });

  test("a Job that writes to another run's folder says nothing about these files", () => {
    const own = { ...files, name: "c/a/r1.pod/output.ndjson", end: endRecord() };
    const writing = (run: string) => [
      job({ [ANNOTATION.output]: `/paperclip/instances/default/data/run-logs/c/a/${run}.pod/output.ndjson` }),
    ];
    expect(decideFiles(own, writing("r2"), null, hour)).toMatchObject({ kind: "remove" });
    expect(decideFiles(own, writing("r1"), null, hour)).toBeNull();
  });

  test("written to a moment ago: not listed", () => {
    expect(decideFiles({ ...files, end: endRecord(), writtenAt: "2026-01-01T02:30:00Z" }, [], [], hour)).toBeNull();
  });
});
