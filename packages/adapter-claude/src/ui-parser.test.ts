import { TranscriptLines } from "@paperclip-k8s/paperclip/transcript/to-lines";
import { expect, test } from "vitest";
import { loadFixture } from "../fixtures/load.ts";
import { createParser } from "./claude/parse.ts";
import { formatLine } from "./cli.ts";
import { parseStdoutLine } from "./ui-parser.ts";

// That the parser evaluates as the host evaluates it is the business of scripts/check-packages.ts.

function transcript(name: string): string[] {
  const lines = new TranscriptLines();
  const parser = createParser();
  return loadFixture(name).lines.flatMap((line) => lines.push(parser.push(line)));
}

const entries = (name: string) => transcript(name).flatMap((line) => parseStdoutLine(line.trim(), "2026-01-01"));
const INIT = "◆ session 00000000-0000-4000-8000-000000000001 · model claude-sonnet-5";
const USED = "400 in · 800 cached · 60 written to cache · 57 out · $0.00168";

test.each<[string, string[]]>([
  [
    "tool-call",
    [
      INIT,
      "▸ Bash  echo hello-from-tool",
      "✓ hello-from-tool",
      "● All done: scripted answer.",
      "■ end_turn · 800 in · 1,600 cached · 120 written to cache · 114 out · $0.00336",
    ],
  ],
  ["success", [INIT, "● Hello from the script.", `■ end_turn · ${USED}`]],
  ["thinking", [INIT, "◌ The script asks me to think first.", "● All done: scripted answer.", `■ end_turn · ${USED}`]],
  ["resumed", [INIT, "● 1. say: one", "│ 2. remember", `■ end_turn · ${USED}`]],
  ["model-error", [INIT, "✖ API Error: 400 Scripted refusal: the request is not valid."]],
  ["unknown-session", ["✖ No conversation found with session ID: 0b8a5b0e-0000-4000-8000-000000000000"]],
])("%s without a parser: what the page shows", (name, lines) => expect(transcript(name)).toEqual(lines));

test("a failed command, a retry and the limit of turns", () => {
  expect(transcript("tool-exit-code")[2]).toBe("✗ exit 3: about-to-fail");
  expect(transcript("overloaded")[1]).toMatch(/^API retry 1 of 1 in 1\.0 s: overloaded \(529\)$/);
  expect(transcript("max-turns").slice(-2)).toEqual([
    "✖ Reached maximum number of turns (2)",
    expect.stringMatching(/^■ tool_use · 800 in .* 114 out/),
  ]);
});

test("with a parser: calls and results, tokens and errors", () => {
  expect(entries("tool-call")).toMatchObject([
    { kind: "init", model: "claude-sonnet-5", sessionId: "00000000-0000-4000-8000-000000000001" },
    { kind: "tool_call", name: "Bash", toolUseId: "Bash  echo hello-from-tool", input: { command: "echo hello-from-tool" } },
    { kind: "tool_result", toolUseId: "", content: "hello-from-tool", isError: false },
    { kind: "assistant", text: "All done: scripted answer.\n" },
    { kind: "result", inputTokens: 920, cachedTokens: 1600, outputTokens: 114, costUsd: 0.00336, isError: false },
  ]);
  expect(entries("tool-error").find(({ kind }) => kind === "tool_result")).toMatchObject({ isError: true });
  expect(entries("unauthorized").at(-1)).toMatchObject({ kind: "result", isError: true });
});

test("at a terminal the words are the log's", () => {
  for (const name of ["tool-call", "thinking", "max-turns", "tool-exit-code"])
    expect(transcript(name).map((line) => formatLine(line, { color: false }))).toEqual(transcript(name));
});

const rawEntries = (name: string) => loadFixture(name).lines.flatMap((line) => parseStdoutLine(line, "2026-01-01"));

test("raw lines: the page's parser shows each event by itself, with its own ids", () => {
  const shown = rawEntries("tool-call");
  expect(shown.map(({ kind }) => kind)).toEqual(["init", "tool_call", "tool_result", "assistant", "result"]);
  const [, call, result] = shown as unknown as Record<string, string>[];
  expect(call).toMatchObject({ name: "Bash", input: { command: "echo hello-from-tool" } });
  expect(result).toMatchObject({ content: "hello-from-tool", isError: false, toolUseId: call!.toolUseId });
  expect(rawEntries("unauthorized").at(-1)).toMatchObject({ kind: "result", isError: true });
});

test("raw lines: a terminal shows their transcript; lines of ours and of nobody stay as they are", () => {
  const shown = loadFixture("tool-call")
    .lines.map((line) => formatLine(line, { color: false }))
    .filter((line) => line !== "");
  expect(shown.slice(0, 4)).toEqual(transcript("tool-call").slice(0, 4));
  for (const line of ["[paperclip] container running", '{"type":"of no event"}', "{", "words"]) {
    expect(formatLine(line, { color: false })).toBe(line);
    expect(parseStdoutLine(line, "t")).toMatchObject([{ text: line }]);
  }
});
