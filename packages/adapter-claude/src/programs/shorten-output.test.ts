import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { filterText } from "../../generated/filter-text.ts";
import { shorten, shortenText } from "./shorten-output.ts";

test("head and tail are kept, with a note of what was cut", () => {
  const text = `${"a".repeat(600)}${"b".repeat(600)}`;
  const short = shortenText(text, 300);
  expect(short).toMatch(/^a{200}\n\n\[… 900 of 1200 bytes of this output were cut here to keep it short …\]\n\nb{100}$/);
  expect(shortenText(text, 1200)).toBe(text);
});

test("no character is cut in two, and never more is kept than asked for", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 50, maxLength: 400 }), fc.integer({ min: 1, max: 300 }), (text, limit) => {
      const short = shortenText(text, limit);
      if (Buffer.byteLength(text) <= limit) return short === text;
      const [head = "", tail = ""] = short.split(/\n\n\[… .* …\]\n\n/);
      return text.startsWith(head) && text.endsWith(tail) && Buffer.byteLength(head + tail) <= limit;
    }),
  );
});

test("the shape of an output stays: strings, text blocks, a command's streams, a file", () => {
  const long = "x".repeat(50);
  const cut = expect.stringContaining("of 50 bytes of this output were cut");
  expect(shorten(long, 10)).toEqual(cut);
  expect(shorten([{ type: "text", text: long }], 10)).toEqual([{ type: "text", text: cut }]);
  expect(shorten({ stdout: long, stderr: "", interrupted: false }, 10)).toEqual({ stdout: cut, stderr: "", interrupted: false });
  const file = { type: "text", file: { filePath: `/${long}`, content: long, numLines: 1 } };
  expect(shorten(file, 10)).toEqual({ type: "text", file: { filePath: `/${long}`, content: cut, numLines: 1 } });
});

test("images stay whole, and what is short is left alone", () => {
  const image = [{ type: "image", source: { type: "base64", data: "A".repeat(100) } }];
  expect(shorten(image, 50)).toBeUndefined();
  expect(shorten({ stdout: "short", isImage: false }, 50)).toBeUndefined();
  expect(shorten(null, 50)).toBeUndefined();
});

test("the hook as it is shipped: an answer where something was cut, nothing where not, whatever it is given", () => {
  const hook = (input: string, limit: string) =>
    execFileSync(process.execPath, ["-e", filterText, "hook", limit], { input, encoding: "utf8" });
  const answer = JSON.parse(hook(JSON.stringify({ tool_response: { stdout: "y".repeat(99) } }), "9"));
  expect(answer.hookSpecificOutput).toMatchObject({
    hookEventName: "PostToolUse",
    updatedToolOutput: { stdout: expect.stringContaining("99 bytes") },
  });
  for (const input of [JSON.stringify({ tool_response: "short" }), "{}", "no JSON", ""]) expect(hook(input, "9")).toBe("");
  expect(hook(JSON.stringify({ tool_response: "y".repeat(99) }), "none")).toBe("");
});
