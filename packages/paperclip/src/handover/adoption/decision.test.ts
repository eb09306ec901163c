import { describe, expect, test } from "vitest";
import { ANNOTATION } from "../../host/keys.ts";
import type { HostRun } from "../../host/runs.ts";
import { type Conflict, decide } from "./decision.ts";

interface Changes {
  readonly status?: string;
  readonly errorCode?: string | null;
  readonly jobTask?: string | null;
  readonly jobSession?: string | null;
  readonly jobKey?: string;
  readonly finished?: boolean;
  readonly ended?: boolean;
  readonly neverStarted?: boolean;
  readonly own?: Partial<Conflict["own"]>;
  readonly isRetry?: boolean;
  readonly finishedMs?: number;
}

function conflict(changes: Changes = {}): Conflict {
  const {
    status = "failed",
    errorCode = "process_lost",
    jobTask = "task-1",
    jobSession = null,
    finished = false,
    ended = finished,
  } = changes;
  const run: HostRun = { id: "old", status, errorCode, agentId: null, retryOfRunId: null, superseded: false };
  return {
    owner: {
      jobName: "job",
      uid: "u",
      runId: "old",
      labels: {},
      annotations: {
        ...(jobTask === null ? {} : { [ANNOTATION.taskId]: jobTask }),
        ...(jobSession === null ? {} : { [ANNOTATION.sessionId]: jobSession }),
        [ANNOTATION.exclusive]: changes.jobKey ?? "key",
      },
      ours: true,
      finished,
      ended,
      ...(changes.neverStarted && { neverStarted: true }),
      createdAt: null,
    },
    run,
    own: { task: "task-1", session: null, wakeReason: null, reattach: true, exclusive: "key", ...changes.own },
    isRetry: changes.isRetry ?? true,
    finishedMs: changes.finishedMs ?? 0,
  };
}

const decided = (changes: Changes) => decide(conflict(changes));

describe("a run that continues a lost one adopts", () => {
  test.each<[string, Changes]>([
    ["lost process", {}],
    ["interrupted by a shutdown", { status: "interrupted", errorCode: "server_shutdown_interrupted" }],
    ["interrupted by the shutdown of its server, as a failure", { errorCode: "server_shutdown_interrupted" }],
    ["left to the next server by a drain", { errorCode: "k8s_detached" }],
    ["taken over, though nobody confirmed it", { errorCode: "k8s_takeover_failed" }],
    ["the same, ended meanwhile", { errorCode: "k8s_takeover_failed", finished: true }],
    ["ended meanwhile", { finished: true }],
    ["the same session on both sides", { jobSession: "s", own: { session: "s" } }],
    ["a session on one side only", { jobSession: "s" }],
    ["by the host's recovery of the task, without a retry", { isRetry: false, own: { wakeReason: "issue_recovery_action_restored" } }],
    [
      "for a comment that waited when a drain left the Job",
      { errorCode: "k8s_detached", isRetry: false, own: { wakeReason: "issue_commented" } },
    ],
    [
      "the same, once that run was refused during the drain and is tried again",
      { errorCode: "k8s_detached", isRetry: false, own: { wakeReason: "transient_failure_retry" } },
    ],
    ["the same, as older hosts call it", { isRetry: false, own: { wakeReason: "issue_continuation_needed" } }],
  ])("%s", (_, changes) => {
    expect(decided(changes)).toEqual({ kind: "adopt" });
  });
});

describe("any other run waits", () => {
  test.each<[string, Changes]>([
    ["a new comment on the task", { isRetry: false, own: { wakeReason: "issue_commented" } }],
    ["the host's recovery of another task", { isRetry: false, own: { task: "task-2", wakeReason: "process_lost_retry" } }],
    ["a retry on another task", { own: { task: "task-2" } }],
    ["a comment on another task than the one a drain left", { errorCode: "k8s_detached", isRetry: false, own: { task: "task-2" } }],
    ["a run without a task beside one that a drain left", { errorCode: "k8s_detached", isRetry: false, own: { task: null } }],
    ["the Job's run is still live", { status: "running", errorCode: null }],
    ["its end record is read, and the host has not stored the end", { ended: true, status: "running", errorCode: null }],
    ["its end record is read, and nobody continues it", { ended: true, isRetry: false }],
    ["the Job's run is being cancelled", { status: "cancelling", errorCode: null }],
    ["a retry after a plain failure, as some hosts make it", { errorCode: "adapter_failed" }],
    ["a retry after a time limit", { status: "timed_out", errorCode: "timeout" }],
    ["a retry after a success", { status: "succeeded", errorCode: null }],
    ["ended a moment ago, and nobody continues it", { isRetry: false, finished: true }],
  ])("%s", (_, changes) => {
    expect(decided(changes)).toEqual({ kind: "wait" });
  });
});

describe("blocked while the Job is live", () => {
  test.each<[string, Changes]>([
    ["k8s_orphan_task_unknown", { jobTask: null }],
    ["k8s_orphan_task_unknown", { own: { task: null } }],
    ["k8s_orphan_task_unknown", { jobTask: null, own: { task: null } }],
    ["k8s_orphan_session_mismatch", { jobSession: "s-1", own: { session: "s-2" } }],
    ["k8s_concurrent_run_blocked", { own: { reattach: false } }],
  ])("%s %j", (code, changes) => {
    expect(decided(changes)).toMatchObject({ kind: "blocked", code });
    expect(decided({ ...changes, finished: true })).toEqual({ kind: "wait" });
    expect(decided({ ...changes, ended: true })).toEqual({ kind: "wait" });
    expect(decided({ ...changes, finished: true, finishedMs: 120_000 })).toMatchObject({ kind: "remove" });
  });
});

describe("removed, never replayed", () => {
  test.each<[string, Changes]>([
    ["ended, and its success is on record", { finished: true, status: "succeeded", errorCode: null }],
    ["its end record is read, and its success is on record", { ended: true, status: "succeeded", errorCode: null }],
    ["ended, and its failure is on record", { finished: true, errorCode: "adapter_failed" }],
    ["cancelled while its server was away", { status: "cancelled", errorCode: "cancelled" }],
    ["cancelled and ended", { status: "cancelled", errorCode: "cancelled", finished: true }],
    ["ended long ago, and nobody continues it", { isRetry: false, finished: true, finishedMs: 120_000 }],
  ])("%s", (_, changes) => {
    expect(decided(changes)).toMatchObject({ kind: "remove" });
  });
});

test("a run the host does not know is waited for, and its finished Job is removed in the end", () => {
  expect(decide({ ...conflict(), run: null })).toEqual({ kind: "wait" });
  expect(decide({ ...conflict({ finished: true, finishedMs: 120_000 }), run: null })).toMatchObject({ kind: "remove" });
});

test("a Job under another key of the same task has a session of its own, and is adopted all the same", () => {
  const sessions = { jobSession: "s-1", own: { session: "s-2" } };
  expect(decided(sessions)).toMatchObject({ kind: "blocked", code: "k8s_orphan_session_mismatch" });
  expect(decided({ ...sessions, jobKey: "status-card" })).toEqual({ kind: "adopt" });
});

describe("a Job that never got its Secret", () => {
  test.each<[string, Changes]>([
    ["its run is lost, and nobody continues it", { isRetry: false }],
    ["its run has another end", { errorCode: "k8s_job_create_failed" }],
  ])("is removed: %s", (_, changes) =>
    expect(decided({ ...changes, neverStarted: true })).toMatchObject({ kind: "remove", why: expect.stringContaining("Secret") }),
  );
  test("stays while the host calls its run live: its server may still be making it", () =>
    expect(decided({ status: "running", errorCode: null, neverStarted: true })).toEqual({ kind: "wait" }));
});
