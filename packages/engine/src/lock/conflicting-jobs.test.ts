import { expect, test } from "vitest";
import { exampleRequest } from "../manifest/testing/example-request.ts";
import { overlaps } from "../overlaps.ts";
import { isConflicting } from "./conflicting-jobs.ts";
import { timeLimit } from "./wait-for-lock.ts";

test.each<[string, string, boolean]>([
  ["a/b", "a/b", true],
  ["a/b", "a", true],
  ["a", "a/b/c", true],
  ["a/b", "a/c", false],
  ["a/b", "a/bc", false],
  ["a", "b/a", false],
])("keys are paths: %s and %s", (one, other, expected) => {
  expect(overlaps(one, other)).toBe(expected);
  expect(overlaps(other, one)).toBe(expected);
});

test("a Job is in the way by the key it bears; one of others, by its labels", () => {
  const request = { ...exampleRequest(), exclusive: "agent/task", legacyLabels: { "example.io/agent": "agent", "example.io/type": "t" } };
  const { keys } = request;
  const job = (annotations: Record<string, string>, labels: Record<string, string> = request.legacyLabels) => ({ annotations, labels });
  expect(isConflicting(request, job({ [keys.exclusive]: "agent", [keys.runner]: "1" }, {}))).toBe(true);
  expect(isConflicting(request, job({ [keys.exclusive]: "agent/other", [keys.runner]: "1" }))).toBe(false);
  // Ours, and it shares nothing: a check of the environment, a volume's change of hands.
  expect(isConflicting(request, job({ [keys.runner]: "1" }))).toBe(false);
  expect(isConflicting(request, job({}))).toBe(true);
  expect(isConflicting(request, job({}, { "example.io/agent": "agent" }))).toBe(false);
  const { legacyLabels: _, ...alone } = request;
  expect(isConflicting(alone, job({}))).toBe(false);
  expect(isConflicting({ ...request, exclusive: null }, job({}))).toBe(false);
});

test("how long another Job's CLI may work: its own mark, or the deadline of a Job that is not ours", () => {
  const { keys } = exampleRequest();
  const limit = (annotations: Record<string, string>, deadlineSeconds: number | null) => timeLimit({ annotations, deadlineSeconds }, keys);
  expect(limit({ [keys.runner]: "1", [keys.timeLimit]: "90" }, 5000)).toBe(90);
  for (const mark of ["", "0", "-5", "1.5", "soon", "1e400"])
    expect(limit({ [keys.runner]: "1", [keys.timeLimit]: mark }, 5000)).toBeNull();
  expect(limit({ [keys.runner]: "1" }, 90_000)).toBeNull();
  expect(limit({}, 960)).toBe(960);
  expect(limit({}, null)).toBeNull();
});
