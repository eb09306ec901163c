import { expect, test } from "vitest";
import { decodeMessage } from "./decode-message.ts";

test.each([
  null,
  undefined,
  1,
  "answer",
  [],
  {},
  { answer: null },
  { answer: "x" },
  { answer: { kind: "imported" } },
  { answer: { kind: 1 } },
  { progress: 7 },
])("%j from an import's process is no message", (message) => {
  expect(decodeMessage(message)).toBeNull();
});

test("answers and progress are taken as they are", () => {
  for (const message of [
    { answer: { kind: "saved-already" } },
    { answer: { kind: "unfit", reason: "r" } },
    { answer: { kind: "not-found", places: ["p"] } },
    { answer: { kind: "imported", from: "f", bytes: 1, files: 2, rows: 3 } },
    { progress: { step: "copies", bytes: 1 } },
  ])
    expect(decodeMessage(message)).toEqual(message);
});
