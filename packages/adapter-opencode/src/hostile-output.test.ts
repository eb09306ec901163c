import { assertHarmless, LONG, recordedEvents, showOutput, TOOL_NAMES, wrongIn } from "@paperclip-k8s/paperclip/testing/hostile-output";
import { expect, test } from "vitest";
import { opencode } from "./agent-cli.ts";

const recorded = recordedEvents(new URL("../fixtures/", import.meta.url));

test("whatever an agent writes in the CLI's place, the host gets a result and a log that it can keep", () =>
  assertHarmless(opencode, recorded));

/** Events that put the agent's text into the log, into an error, and into a tool's call. */
const EVENTS: readonly ((text: unknown) => string)[] = [
  (text) => JSON.stringify({ type: "text", sessionID: text, part: { text } }),
  (text) =>
    JSON.stringify({
      type: "tool_use",
      part: { callID: text, tool: text, state: { status: "error", input: { command: text, more: text }, error: text, title: text } },
    }),
  (text) => JSON.stringify({ type: "step_finish", part: { reason: text, modelID: text, providerID: text } }),
  (text) => JSON.stringify({ type: "error", error: text }),
  (text) =>
    JSON.stringify({ type: "error", error: { name: text, data: { message: text, ref: text, responseHeaders: { "retry-after": text } } } }),
  (text) => JSON.stringify({ type: text }),
];

test.each(LONG)("a very long line: %s", async (_, make) => {
  for (const event of EVENTS) {
    const line = make((text) => JSON.stringify(JSON.parse(event(text))));
    expect(wrongIn(await showOutput(opencode, `${line}\n`, line.slice(0, 300_000)))).toBeNull();
  }
});

test("many calls of a tool, whatever the length of its name, are a call and a result each", async () => {
  for (const tool of TOOL_NAMES) {
    const call = (id: number) => ({ callID: `c${id}`, tool, state: { status: "completed", input: { command: "ls" }, output: "a" } });
    const calls = Array.from({ length: 70 }, (_, id) => JSON.stringify({ type: "tool_use", part: call(id) }));
    const shown = await showOutput(opencode, `${calls.join("\n")}\n`, "");
    expect(wrongIn(shown)).toBeNull();
    expect(shown.log.match(/^▸ .*\n✓ a$/gm)).toHaveLength(70);
  }
});
