import type { RunOutcome, RunRequest } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import { exampleRequest } from "../../../../engine/src/manifest/testing/example-request.ts";
import { probeOutcome } from "./probe-outcome.ts";

const request: RunRequest = exampleRequest();
const facts = { request, reported: false, waitedMs: 40_000, lastWarning: null };
const evidence = { node: "node-1", output: { complete: true }, timings: { started: 900, cliOver: 2340 } };
const ended = (kind: object, changes: object = {}) => ({ ...kind, evidence: { ...evidence, ...changes } }) as unknown as RunOutcome;
const never = (cause: string, message: string) => ended({ kind: "never-started", cause, message, permanent: false });
const codes = (outcome: RunOutcome) => probeOutcome(outcome, facts).map(({ level, code }) => `${level} ${code}`);

test("a probe that ran says how long it took and where", () => {
  const [ran] = probeOutcome(ended({ kind: "exited", exitCode: 0, signal: null }), facts);
  expect(ran?.message).toBe("A pod like a run's ran: started after 0.9 s, done after 2.3 s, on node node-1.");
});

test.each([
  ["error volume_not_shared", ended({ kind: "exited", exitCode: 0, signal: null }, { output: { complete: false } })],
  ["error probe_failed", ended({ kind: "exited", exitCode: 9, signal: null })],
  ["error probe_image", never("image", "ErrImagePull")],
  ["error probe_not_created", never("job-create-failed", "refused")],
  ["error probe_not_created", never("secret-create-failed", "refused")],
  ["error volume_not_shared", never("volume-unusable", "the output file cannot be written")],
  ["error runtime_missing", never("runtime-missing", 'exec: "node": executable file not found in $PATH')],
  ["error runtime_missing", never("runtime-too-old", "Node 12 is too old")],
  ["error probe_not_started", never("start-error", "cannot start: permission denied")],
  ["error probe_not_started", never("no-pod", "quota")],
  ["warn probe_slow", never("unschedulable", "0/3 nodes are available")],
  ["error probe_failed", ended({ kind: "killed", by: "oom", message: "out of memory", exitCode: 137 })],
])("%s", (wanted, outcome) => {
  expect(codes(outcome)).toEqual([wanted]);
});

test("one that took too long says what it was last seen waiting for", () => {
  const late = ended({ kind: "cancelled", reason: "late", exitCode: null, stopped: true });
  const [slow] = probeOutcome(late, { ...facts, lastWarning: "pod not scheduled yet: 0/3 nodes are available" });
  expect(slow).toMatchObject({
    level: "warn",
    code: "probe_slow",
    message: expect.stringContaining("had not started after 40.0 s: pod not scheduled yet"),
  });
});
