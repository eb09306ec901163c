import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanLine, cleanText, cleanValue, joinLines, phrase, word } from "./clean-text.ts";
import { asForeign } from "./transcript/marks.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|\p{Cs}/u;

test.each([
  ["colours", "\u001b[31mred\u001b[0m", "red"],
  ["colours of one character", "\u009b31mred", "red"],
  ["a title", "a\u001b]0;rm -rf /\u0007b", "ab"],
  ["a link", "\u001b]8;;http://x\u001b\\here\u001b]8;;\u001b\\", "here"],
  ["the clipboard", "\u001b]52;c;ZXZpbA==\u0007x", "x"],
  ["a device string", "\u001bPq#0\u001b\\x\u0090q\u009cy", "xy"],
  ["a cleared screen", "a\u001b[2J\u001b[1;1Hb\u001bcc", "abc"],
  ["a string without an end hides nothing", "\u001b]0;shown\nthe next line", "0;shown\nthe next line"],
  ["a code in a code", "\u001b\u001b[31m[31mx", "[31mx"],
  ["NUL, bell, backspace, DEL", "a\0b\u0007c\bd\u007fe", "abcde"],
  ["C1", "a\u0085b\u008dc", "abc"],
  ["a return", "10%\r20%\r\nend", "10%\n20%\nend"],
  ["other line ends", "a\u2028b\u2029c\vd\fe", "a\nb\ncde"],
  ["reversed text", "user\u202etxt.exe\u202c \u2066x\u2069", "usertxt.exe x"],
  ["half characters", "a\ud800b\udc00", "a\ufffdb\ufffd"],
  ["usual text", "tab\there, ü, 🦊, עברית\n", "tab\there, ü, 🦊, עברית\n"],
])("%s", (_, text, clean) => expect(cleanText(text)).toBe(clean));

const nasty = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "\u001b",
      "\u009b",
      "\u009d",
      "[",
      "]",
      ";",
      "0",
      "m",
      "\u0007",
      "\u009c",
      "\\",
      "\r",
      "\n",
      "\t",
      "\0",
      "\u202e",
      "\ud83e",
      "\udd8a",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
});

test("whatever the text: nothing unfit is left, and cleaning again changes nothing", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const clean = cleanText(text);
      expect(clean).not.toMatch(UNFIT);
      expect(cleanText(clean)).toBe(clean);
      expect(cleanLine(text)).not.toMatch(/[\n\t]/);
      expect(JSON.stringify(cleanValue({ [text]: [text, { text }], other: [1, null, true] }))).not.toMatch(UNFIT);
    }),
    { numRuns: 2000 },
  );
});

test("text without anything unfit stays as it is", () => {
  const usual = fc.string({ unit: "grapheme" }).filter((text) => !UNFIT.test(text));
  fc.assert(
    fc.property(usual, (text) => {
      expect(cleanText(text)).toBe(text);
    }),
  );
});

// A pattern that takes the square of the length would need hours for these.
test.each([
  "\u001b",
  "\u001b[",
  "\u001b[0;",
  "\u009b0",
  "\u001b]",
  "\u001b]a",
  "\u009d",
  "\u009da",
  "\u001bP ",
  "\r",
  " ",
  " \n",
  "\t ",
  "\u200b",
  "[paperclip] ",
])("a million times %j", (piece) => {
  const text = piece.repeat(1_000_000);
  for (const read of [cleanText, cleanLine, joinLines, phrase, asForeign, (given: string) => word(given, "x", 100)])
    expect(typeof read(`${text}x`)).toBe("string");
});

test("a line has a length that people read", () => {
  expect(cleanLine("a".repeat(10_000)).length).toBe(4001);
  expect(cleanLine(`${"\0".repeat(1000)}a\n\n  b`, 300)).toBe("a b");
});

test("a value nested beyond reason is cut, not followed", () => {
  let deep: unknown = "x";
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(JSON.stringify(cleanValue(deep)).length).toBeLessThan(100);
});

test.each([
  "[paperclip] released",
  "  [paperclip] released",
  "\u200b[paperclip] released",
  "\ufeff\u2060 \u00ad[paperclip] released",
  "[PaperClip] released",
  "［paperclip］ released",
  "● I am done",
  "\u200d✖ failed",
])("a line of others that looks like ours is marked: %j", (line) => expect(asForeign(line)).toBe(`· ${line}`));

test("a line of others that does not is left as it is", () => {
  for (const line of ["", " at x (y.js:1)", "paperclip: x", "see [paperclip]", "x ● y"]) expect(asForeign(line)).toBe(line);
});
