import { expect, test } from "vitest";
import { warningTexts } from "./read-answer.ts";

test("none, one, several in one header, quotes and commas inside", () => {
  expect(warningTexts(undefined)).toEqual([]);
  expect(warningTexts('299 - "unknown field \\"spec.x\\""')).toEqual(['unknown field "spec.x"']);
  expect(warningTexts('299 - "one, two", 299 kube-apiserver "three"')).toEqual(["one, two", "three"]);
  expect(warningTexts(['299 - "a"', '299 - "b"'])).toEqual(["a", "b"]);
});
