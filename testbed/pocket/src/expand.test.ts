import fc from "fast-check";
import { expect, test } from "vitest";
import { expand } from "./expand.ts";

const values = new Map([
  ["A", "1"],
  ["EMPTY", ""],
  ["REF", "$(A)"],
]);

// The cases of Kubernetes' own test of this rule.
test.each([
  ["$(A)", "1"],
  ["$(NONE)", "$(NONE)"],
  ["$(EMPTY)", ""],
  ["$(REF)", "$(A)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$$$$(A)", "$$(A)"],
  ["$A", "$A"],
  ["$(A", "$(A"],
  ["x$", "x$"],
  ["$()", "$()"],
  ["$$", "$"],
  ["$(A)$(A)", "11"],
])("%s → %s", (text, expected) => {
  expect(expand(text, values)).toBe(expected);
});

test("doubling every $ keeps any text as it is", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("$", "(", ")", "A", "x") }),
      (text) => expand(text.replaceAll("$", "$$$$"), values) === text,
    ),
  );
});
