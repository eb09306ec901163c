import { stripVTControlCharacters } from "node:util";
import { TranscriptLines } from "@paperclip-k8s/paperclip/transcript/to-lines";
import { expect, test } from "vitest";
import { cases } from "../fixtures/cases.ts";
import { loadFixture } from "../fixtures/load.ts";
import { formatLine } from "./cli.ts";
import { createParser } from "./opencode/parse.ts";
import { showStderr } from "./opencode/stderr.ts";

function show(name: string, color = false): string {
  const transcript = new TranscriptLines();
  const parser = createParser();
  const lines = loadFixture(name).lines.flatMap((line) => transcript.push(parser.push(line)));
  return lines.map((line) => formatLine(line, { color })).join("\n");
}

test("a run reads like a conversation", () => {
  expect(show("tool-call")).toBe(
    [
      "▸ bash  echo hello-from-tool",
      "✓ hello-from-tool",
      "● All done: scripted answer.",
      "■ stop · 800 in · 1,600 cached · 90 out · 24 reasoning · $0.00459",
    ].join("\n"),
  );
  expect(show("tool-exit-code")).toContain("✗ exit 3: about-to-fail");
  expect(show("unauthorized")).toBe("✖ APIError 401: Scripted refusal: invalid API key.");
});

test("with colour it says the same", () => {
  for (const name of Object.keys(cases)) expect(stripVTControlCharacters(show(name, true))).toBe(show(name));
  expect(show("tool-call", true)).toContain("\u001b[");
});

test("OpenCode's own log is shown without times, ids and stacks", () => {
  const shown = (name: string) => loadFixture(name).stderr.trim().split("\n").map(showStderr);
  expect(shown("model-error")).toEqual([
    "ERROR stream error: AI_APICallError: Scripted refusal: the request is not valid.",
    "ERROR process: Scripted refusal: the request is not valid.",
  ]);
  expect(shown("unknown-model")[1]).toBe("ERROR failed: ProviderModelNotFoundError: Model not found: scripted/nothing. (err_0001)");
  for (const other of ["Error: no", "timestamp=", "timestamp=1 level=ERROR run=1", ""]) expect(showStderr(other)).toBe(other);
});

test("a raw line is shown as its transcript", () => {
  const shown = loadFixture("tool-call")
    .lines.map((line) => formatLine(line, { color: false }))
    .filter((line) => line !== "");
  expect(shown.slice(0, 2)).toEqual(["▸ bash  echo hello-from-tool\n✓ hello-from-tool", "● All done: scripted answer."]);
  for (const line of ["[paperclip] container running", '{"type":"of no event"}', "{"])
    expect(formatLine(line, { color: false })).toBe(line);
});
