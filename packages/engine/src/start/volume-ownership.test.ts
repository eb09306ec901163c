import { expect, test } from "vitest";
import type { ClusterFact } from "../kube/views.ts";
import { condition, ended, job, pod, running } from "../outcome/testing/example-facts.ts";
import { noteOwnership, ownershipEnd } from "./volume-ownership.ts";

const after = (...facts: ClusterFact[]) =>
  ownershipEnd(facts.reduce(noteOwnership, { job: job(), pod: null, jobGone: false, podGone: false }));
const atWork: ClusterFact = { kind: "pod", pod: pod(running) };
const gone = (exitCode: number): ClusterFact => ({ kind: "pod-gone", pod: pod(ended(exitCode, "Completed")) });

test("a Job that another server deletes after it has succeeded is no failure", () => {
  expect(after(atWork, { kind: "job-gone" })).toBeNull();
  expect(after(atWork, { kind: "job-gone" }, gone(0))).toEqual({ done: true, ran: true });
  expect(after(atWork, gone(0))).toEqual({ done: true, ran: true });
});

test("a Job deleted before its pod had ended is named as the reason", () => {
  expect(after({ kind: "job-gone" })).toMatchObject({ done: false, why: "its Job was deleted" });
  expect(after(atWork, { kind: "job-gone" }, { kind: "pod-gone", pod: pod(running) })).toMatchObject({ done: false, ran: false });
});

test("a pod that failed is the reason, once the Job has given up", () => {
  const failed: ClusterFact = { kind: "pod", pod: pod(ended(1, "Error", "at x\nError: EPERM: chown\n")) };
  expect(after(failed)).toBeNull();
  const finished: ClusterFact = { kind: "job", job: job({ conditions: { Failed: condition("BackoffLimitExceeded") } }) };
  expect(after(failed, finished)).toEqual({ done: false, ran: true, why: "Error: EPERM: chown" });
});
