import { expect, test } from "vitest";
import { exampleRequest } from "../manifest/example-request.ts";
import { isRival, overlaps } from "./rivals.ts";

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
  const request = { ...exampleRequest(), exclusive: "agent/task", kin: { "example.io/agent": "agent", "example.io/type": "t" } };
  const { keys } = request;
  const job = (annotations: Record<string, string>, labels: Record<string, string> = request.kin) => ({ annotations, labels });
  expect(isRival(request, job({ [keys.exclusive]: "agent", [keys.runner]: "1" }, {}))).toBe(true);
  expect(isRival(request, job({ [keys.exclusive]: "agent/other", [keys.runner]: "1" }))).toBe(false);
  // Ours, and it shares nothing: a check of the environment, a volume's change of hands.
  expect(isRival(request, job({ [keys.runner]: "1" }))).toBe(false);
  expect(isRival(request, job({}))).toBe(true);
  expect(isRival(request, job({}, { "example.io/agent": "agent" }))).toBe(false);
  const { kin: _, ...alone } = request;
  expect(isRival(alone, job({}))).toBe(false);
  expect(isRival({ ...request, exclusive: null }, job({}))).toBe(false);
});
