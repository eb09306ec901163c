import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { loadFixture } from "../fixtures/load.ts";
import type { parseStdoutLine } from "./ui-parser.ts";

let parse: typeof parseStdoutLine;

// As the host's worker does it: CommonJS text, strict, with neither self nor globalThis nor require.
beforeAll(async () => {
  const entry = fileURLToPath(new URL("./ui-parser.ts", import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "cjs", platform: "neutral", write: false });
  const module = { exports: {} as { parseStdoutLine: typeof parseStdoutLine } };
  new Function("exports", "module", "self", "globalThis", `"use strict";\n{\n${outputFiles[0]!.text}\n}`)(
    module.exports,
    module,
    undefined,
    undefined,
  );
  parse = module.exports.parseStdoutLine;
});

const kinds = (name: string) =>
  loadFixture(name)
    .lines.flatMap((line) => parse(line, "t"))
    .map(({ kind }) => kind);

test("the transcript of each sort of run", () => {
  expect(kinds("tool-call")).toEqual(["tool_call", "tool_result", "result", "assistant", "result"]);
  expect(kinds("reasoning")).toEqual(["thinking", "assistant", "result"]);
  expect(kinds("unauthorized")).toEqual(["stderr"]);
  expect(kinds("compaction").filter((kind) => kind === "assistant")).toHaveLength(2);
});

test("calls, results, tokens and errors in full", () => {
  const entries = loadFixture("tool-error").lines.flatMap((line) => parse(line, "2026-01-01"));
  expect(entries[0]).toMatchObject({
    kind: "tool_call",
    ts: "2026-01-01",
    name: "read",
    toolUseId: "call_1",
    input: { filePath: "missing/file.txt" },
  });
  expect(entries[1]).toMatchObject({
    kind: "tool_result",
    toolUseId: "call_1",
    isError: true,
    content: expect.stringContaining("File not found"),
  });
  expect(entries.at(-1)).toMatchObject({ kind: "result", inputTokens: 400, outputTokens: 57, cachedTokens: 800, isError: false });
  expect(parse(loadFixture("unauthorized").lines[0]!, "t")).toEqual([
    { kind: "stderr", ts: "t", text: "APIError 401: Scripted refusal: invalid API key." },
  ]);
});

test("our status lines are system entries, foreign lines stay readable", () => {
  expect(parse("[paperclip] pod scheduled", "t")).toEqual([{ kind: "system", ts: "t", text: "[paperclip] pod scheduled" }]);
  expect(parse("some words", "t")).toEqual([{ kind: "stdout", ts: "t", text: "some words" }]);
  expect(parse("", "t")).toEqual([]);
});
