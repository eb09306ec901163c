import { expect, test } from "vitest";
import { sha256 } from "../../sha256.ts";
import { connectionInstructions } from "./connection-instructions.ts";

const read = (given: unknown) => connectionInstructions({ connectionInstructions: given });

test("text and digest as the host gives them; a digest that is missing or no digest is made of the text", () => {
  expect(read({ text: " Use it. ", digest: "d1", more: 1 })).toEqual({ text: "Use it.", digest: "d1", warning: null });
  for (const digest of [undefined, null, 7, "", {}, "d".repeat(129), "two words", "line\nbreak"])
    expect(read({ text: "Use it.", digest })).toEqual({ text: "Use it.", digest: sha256("Use it."), warning: null });
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["text alone", "Use it."],
  ["a list", [{ text: "Use it." }]],
  ["a text that is none", { text: 7, digest: "d1" }],
  ["a blank text", { text: " \n", digest: "d1" }],
  ["a digest alone", { digest: "d1" }],
])("%s is no instructions", (_, given) => expect(read(given)).toBeNull());

test("a text of megabytes is cut, and its end still counts for the digest", () => {
  const long = "😀".repeat(5_000_000);
  const cut = read({ text: long });
  expect(cut?.text).toHaveLength(100_000);
  expect(cut?.text.isWellFormed()).toBe(true);
  expect(cut?.warning).toContain("10000000 characters");
  expect(read({ text: `${long}!` })?.digest).not.toBe(cut?.digest);
});
