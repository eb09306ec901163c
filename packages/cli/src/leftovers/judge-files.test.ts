import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { expect, test } from "vitest";
import { endRecord, jobView } from "../cluster/example-run.ts";
import { judgeFiles } from "./judge-files.ts";

const span = { olderThanSec: 3600, now: Date.parse("2026-01-01T03:00:00Z") };
const files = { name: "c/a/r1.pod.ndjson", run: "r1", paths: [], bytes: 1, writtenAt: "2026-01-01T00:00:00Z", end: null };
const job = (annotations: Record<string, string>) => jobView({ annotations });

test("its Job is gone and the end is on record: may go", () => {
  expect(judgeFiles({ ...files, end: endRecord() }, [job({ [ANNOTATION.runId]: "r2" })], null, span)).toEqual({
    state: "over",
    why: "its Job is gone; the runner recorded the end at 2026-01-01T00:58:59Z",
  });
});

test("no end on record: only who sees all namespaces can tell", () => {
  expect(judgeFiles(files, [], null, span)).toEqual({ state: "unproved", why: expect.stringContaining("another namespace") });
  expect(judgeFiles(files, [], [], span)).toEqual({ state: "over", why: "no Job in any namespace works for its run" });
  expect(judgeFiles(files, [], [job({ [ANNOTATION.runId]: "r1" })], span)).toBeNull();
});

test.each([
  ["works for the run", { [ANNOTATION.runId]: "r1" }],
  ["was started for it and taken over", { [ANNOTATION.runId]: "r3", [ANNOTATION.adoptedFrom]: "r1,r2" }],
  ["was started for it, long ago", { [ANNOTATION.runId]: "r3", [ANNOTATION.firstRun]: "r1" }],
  ["writes to that file", { [ANNOTATION.output]: "/paperclip/instances/default/data/run-logs/c/a/r1.pod.ndjson" }],
])("a Job that %s: nothing is said of them", (_, annotations) => {
  expect(judgeFiles({ ...files, end: endRecord() }, [job(annotations)], null, span)).toBeNull();
});

test("written to a moment ago: nothing is said of them", () => {
  expect(judgeFiles({ ...files, end: endRecord(), writtenAt: "2026-01-01T02:30:00Z" }, [], [], span)).toBeNull();
});
