import { assertHarmless, LONG, recordedEvents, showOutput, TOOL_NAMES, wrongIn } from "@paperclip-k8s/paperclip/testing/hostile-output";
import { expect, test } from "vitest";
import { claude } from "./agent-cli.ts";

const recorded = recordedEvents(new URL("../fixtures/", import.meta.url));

test("whatever an agent writes in the CLI's place, the host gets a result and a log that it can keep", () =>
  assertHarmless(claude, recorded));

/** Events that put the agent's text into the log, into an error, and into a tool's call. */
const EVENTS: readonly ((text: unknown) => string)[] = [
  (text) => JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } }),
  (text) => JSON.stringify({ type: "assistant", message: { content: text } }),
  (text) =>
    JSON.stringify({
      type: "assistant",
      message: { content: [{ type: "tool_use", id: text, name: text, input: { command: text, more: text } }] },
    }),
  (text) =>
    JSON.stringify({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: text, is_error: true, content: text }] } }),
  (text) =>
    JSON.stringify({
      type: "result",
      subtype: "error",
      is_error: true,
      result: text,
      stop_reason: text,
      api_error_type: text,
      modelUsage: { a: text },
    }),
  (text) => JSON.stringify({ type: "result", subtype: "error", is_error: true, errors: [text] }),
  (text) => JSON.stringify({ type: "system", subtype: "init", session_id: text, model: text }),
  (text) => JSON.stringify({ type: text }),
];

test.each(LONG)("a very long line: %s", async (_, make) => {
  for (const event of EVENTS) {
    const line = make((text) => JSON.stringify(JSON.parse(event(text))));
    expect(wrongIn(await showOutput(claude, `${line}\n`, line.slice(0, 300_000)))).toBeNull();
  }
});

test("many open calls of a tool, whatever the length of its name, have a line each", async () => {
  for (const name of TOOL_NAMES) {
    const call = (id: number) => ({ type: "tool_use", id: `c${id}`, name, input: { command: "ls" } });
    const calls = Array.from({ length: 70 }, (_, id) => JSON.stringify({ type: "assistant", message: { content: [call(id)] } }));
    const shown = await showOutput(claude, `${calls.join("\n")}\n`, "");
    expect(wrongIn(shown)).toBeNull();
    expect(new Set(shown.log.split("\n").filter((line) => line.startsWith("▸"))).size).toBeGreaterThan(60);
  }
});
