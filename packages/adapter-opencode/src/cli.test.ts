import { stripVTControlCharacters } from "node:util";
import { TranscriptLines } from "@paperclip-k8s/paperclip/transcript/to-lines";
import { expect, test } from "vitest";
import { cases } from "../fixtures/cases.ts";
import { loadFixture } from "../fixtures/load.ts";
import { formatLine } from "./cli.ts";
import { createParser } from "./opencode/parse.ts";

function show(lines: readonly string[], color = false): string {
  const shown = lines.map((line) => formatLine(line, { color }));
  return shown.filter((text) => text !== "").join("\n");
}

const raw = (name: string) => loadFixture(name).lines;

function logged(name: string): string[] {
  const transcript = new TranscriptLines();
  const parser = createParser();
  return raw(name).flatMap((line) => transcript.push(parser.push(line)));
}

test("a run reads like a conversation", () => {
  expect(show(raw("tool-call"))).toBe(
    [
      '▸ bash  echo hello-from-tool  {"description":"Print a greeting"}  #call_1',
      "✓ #call_1 hello-from-tool",
      "● All done: scripted answer.",
      "■ stop · 400 in · 800 cached · 45 out · 12 reasoning · $0.002295",
    ].join("\n"),
  );
  expect(show(raw("tool-exit-code"))).toContain("✗ exit 3 #call_1 about-to-fail");
  expect(show(raw("unauthorized"))).toBe("✖ APIError 401: Scripted refusal: invalid API key.");
});

test("the host's log and OpenCode's own output look the same, with and without colour", () => {
  for (const name of Object.keys(cases)) {
    expect(show(logged(name))).toBe(show(raw(name)));
    expect(stripVTControlCharacters(show(raw(name), true))).toBe(show(raw(name)));
  }
  expect(show(raw("tool-call"), true)).toContain("\u001b[");
});

test("an empty line of a text is shown, an event without words is not", () => {
  expect(formatLine("│", { color: false })).toBe("│");
  expect(formatLine('{"type":"step_start"}', { color: false })).toBe("");
  expect(formatLine("", { color: false })).toBe("");
  expect(formatLine("[paperclip] waiting", { color: false })).toBe("[paperclip] waiting");
});
