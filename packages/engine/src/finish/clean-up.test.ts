import { expect, test } from "vitest";
import { delivered, ended, endRecord, play, pod, running } from "../outcome/testing/example-facts.ts";
import { propagationFor } from "./clean-up.ts";

const atWork = { kind: "pod", pod: pod(running) } as const;

test("with an end record the Job's name is free at once, although its pod was last seen running", () => {
  const state = play([atWork, delivered(10), { kind: "end-record", record: endRecord() }], { afterMs: 0 });
  expect(state.outcome?.kind).toBe("exited");
  expect(propagationFor(state)).toBe("Background");
});

test("a Job whose pod may still run keeps its name until the pod is gone", () => {
  expect(propagationFor(play([atWork], { afterMs: 0 }))).toBe("Foreground");
  expect(propagationFor(play([atWork, { kind: "pod", pod: pod(ended(1, "Error")) }], { afterMs: 0 }))).toBe("Background");
});
