import { fileURLToPath } from "node:url";
import { TranscriptLines } from "@paperclip-k8s/paperclip/transcript/to-lines";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { loadFixture } from "../fixtures/load.ts";
import { createParser } from "./opencode/parse.ts";
import type { parseStdoutLine } from "./ui-parser.ts";

let parse: typeof parseStdoutLine;

// As the host's worker does it: CommonJS text, strict, with neither self nor globalThis nor require.
beforeAll(async () => {
  const entry = fileURLToPath(new URL("./ui-parser.ts", import.meta.url));
  // The options of scripts/build.ts, but for the platform: `neutral` refuses whatever only Node has.
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: "cjs",
    platform: "neutral",
    target: "es2022",
    write: false,
  });
  const module = { exports: {} as { parseStdoutLine: typeof parseStdoutLine } };
  const text = outputFiles[0]!.text;
  expect(text).not.toContain("require(");
  new Function("exports", "module", "self", "globalThis", "require", `"use strict";\n{\n${text}\n}`)(module.exports, module);
  parse = module.exports.parseStdoutLine;
});

function transcript(name: string): string[] {
  const lines = new TranscriptLines();
  const parser = createParser();
  return loadFixture(name).lines.flatMap((line) => lines.push(parser.push(line)));
}

const entries = (name: string) => transcript(name).flatMap((line) => parse(line.trim(), "2026-01-01"));
const STEP = "400 in · 800 cached · 45 out · 12 reasoning · $0.002295";
const TWO_STEPS = "800 in · 1,600 cached · 90 out · 24 reasoning · $0.00459";

test.each<[string, string[]]>([
  ["tool-call", ["▸ bash  echo hello-from-tool", "✓ hello-from-tool", "● All done: scripted answer.", `■ stop · ${TWO_STEPS}`]],
  [
    "tool-error",
    [
      "▸ read  missing/file.txt",
      "✗ File not found: /home/agent/work/missing/file.txt",
      "● All done: scripted answer.",
      `■ stop · ${TWO_STEPS}`,
    ],
  ],
  [
    "sub-agent",
    [
      "▸ task  sub work",
      '✓ <task id="ses_0002" state="completed"> ⏎ <task_result> ⏎ All done: scripted answer. ⏎ </task_result> ⏎ </task>',
      "● All done: scripted answer.",
      "■ stop · 1,200 in · 2,400 cached · 135 out · 36 reasoning · $0.006885",
    ],
  ],
  ["reasoning", ["◌ The script asks me to think first.", "● All done: scripted answer.", `■ stop · ${STEP}`]],
  ["resumed", ["● 1. say: one", "│ 2. remember", `■ stop · ${STEP}`]],
  ["model-error", ["✖ APIError 400: Scripted refusal: the request is not valid."]],
  ["unknown-model", ["✖ Unexpected server error. Check server logs for details."]],
])("%s without a parser: what the page shows", (name, lines) => {
  expect(transcript(name)).toEqual(lines);
});

test("with a parser: the kinds of each sort of run", () => {
  const kinds = (name: string) => entries(name).map(({ kind }) => kind);
  expect(kinds("tool-call")).toEqual(["tool_call", "tool_result", "assistant", "result"]);
  expect(kinds("reasoning")).toEqual(["thinking", "assistant", "result"]);
  expect(kinds("unauthorized")).toEqual(["result"]);
  expect(kinds("compaction").filter((kind) => kind === "assistant")).toHaveLength(2);
});

test("with a parser: calls, results, tokens and errors in full", () => {
  expect(entries("tool-call")).toEqual([
    {
      kind: "tool_call",
      ts: "2026-01-01",
      name: "bash",
      toolUseId: "bash  echo hello-from-tool",
      input: { command: "echo hello-from-tool" },
    },
    { kind: "tool_result", ts: "2026-01-01", toolUseId: "", content: "hello-from-tool", isError: false },
    { kind: "assistant", ts: "2026-01-01", text: "All done: scripted answer.\n", delta: true },
    expect.objectContaining({ kind: "result", inputTokens: 800, outputTokens: 114, cachedTokens: 1600, costUsd: 0.00459, isError: false }),
  ]);
  expect(entries("tool-exit-code")[1]).toMatchObject({ kind: "tool_result", isError: true, content: "exit 3: about-to-fail" });
  const refusal = "APIError 401: Scripted refusal: invalid API key.";
  expect(entries("unauthorized")).toMatchObject([{ kind: "result", ts: "2026-01-01", text: refusal, isError: true, errors: [refusal] }]);
});

test("our status lines are system entries, foreign lines stay readable", () => {
  expect(parse("[paperclip] pod scheduled", "t")).toEqual([{ kind: "system", ts: "t", text: "[paperclip] pod scheduled" }]);
  expect(parse("some words", "t")).toEqual([{ kind: "stdout", ts: "t", text: "some words" }]);
  expect(parse("", "t")).toEqual([]);
});

test("raw lines: each event by itself, with its own ids; what is no event stays readable", () => {
  const raw = (name: string) => loadFixture(name).lines.flatMap((line) => parse(line, "2026-01-01"));
  expect(raw("tool-call").map(({ kind }) => kind)).toEqual(["tool_call", "tool_result", "result", "assistant", "result"]);
  const [call, result] = raw("tool-call") as unknown as Record<string, string>[];
  expect(call).toMatchObject({ name: "bash", input: { command: "echo hello-from-tool" } });
  expect(result).toMatchObject({ content: "hello-from-tool\n", isError: false, toolUseId: call!.toolUseId });
  expect(raw("unauthorized").at(-1)).toMatchObject({ kind: "result", isError: true });
  for (const line of ['{"type":"of no event"}', "{", "words"]) expect(parse(line, "t")).toEqual([{ kind: "stdout", ts: "t", text: line }]);
});
