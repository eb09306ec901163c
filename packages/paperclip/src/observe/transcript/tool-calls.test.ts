import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../agent-cli/entry.ts";
import { asHost, isShort, newlines, printable, shown, toLines } from "./testing/as-host.ts";
import { TranscriptLines } from "./to-lines.ts";

test("any short result of a tool comes back in one entry", () => {
  fc.assert(
    fc.property(printable.filter(isShort), fc.boolean(), fc.option(fc.integer({ min: 1, max: 255 })), (text, isError, exitCode) => {
      const entries = asHost(toLines({ kind: "tool_result", id: "call_1", tool: "bash", text, isError, exitCode }));
      const parts = [exitCode === null ? "" : `exit ${exitCode}`, shown(text).join("\n")].filter((part) => part !== "");
      const content = parts.join(": ") || "(no output)";
      expect(entries).toEqual([{ kind: "tool_result", ts: "t", toolUseId: "", content, isError: isError || exitCode !== null }]);
    }),
  );
});

test("what a short call is about comes back", () => {
  fc.assert(
    fc.property(fc.constantFrom("bash", "some_tool"), printable.filter(isShort), (tool, title) => {
      const [entry, ...more] = asHost(toLines({ kind: "tool_call", id: "call_7", tool, title, input: {} }));
      expect(more).toEqual([]);
      expect(entry).toMatchObject({ kind: "tool_call", name: tool });
      const text = shown(newlines(title).trim()).join("\n");
      const { input } = entry as { input: Record<string, unknown> };
      // What is no command and looks like arguments is read as arguments.
      if (tool !== "bash" && text.startsWith("{")) return;
      expect(input).toEqual(text === "" ? {} : tool === "bash" ? { command: text } : { title: text });
    }),
  );
  const todo = { kind: "tool_call", id: "1", tool: "todo", title: "", input: { todos: ["⏎", 2] } } as const;
  expect(asHost(toLines(todo))).toMatchObject([{ name: "todo", input: todo.input }]);
});

test("each result goes to its call, as the host ties them: by id, else to the last call that is open", () => {
  const title = fc.oneof(fc.constantFrom("ls", "pwd"), printable);
  const tool = fc.oneof(fc.constantFrom("bash", "t".repeat(58), "t".repeat(500), "🧵".repeat(60)), printable);
  const calls = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), title, tool), { maxLength: 6, selector: ([id]) => id });
  fc.assert(
    fc.property(calls, fc.array(fc.nat({ max: 11 }), { maxLength: 20 }), (all, order) => {
      const transcript = new TranscriptLines();
      const waiting = [...all];
      const running: string[] = [];
      const tied: { id: string; call: string; status: string; result?: string }[] = [];
      for (const turn of order) {
        const [next] = turn % 2 === 0 ? waiting.splice(0, 1) : [];
        const [ended] = turn % 2 === 0 || running.length === 0 ? [] : running.splice(turn % running.length, 1);
        const entries: Entry[] = [];
        if (next) entries.push({ kind: "tool_call", id: next[0], tool: next[2], title: next[1], input: {} });
        if (next) running.push(next[0]);
        if (ended !== undefined)
          entries.push({
            kind: "tool_result",
            id: ended,
            tool: "",
            text: `of ${[...ended].map((c) => c.charCodeAt(0)).join()}`,
            isError: false,
            exitCode: null,
          });
        for (const entry of asHost(transcript.push(entries))) {
          if (entry.kind === "tool_call") tied.push({ id: entry.toolUseId, call: next?.[0] ?? "", status: "running" });
          if (entry.kind !== "tool_result") continue;
          const call =
            tied.findLast(({ id, status }) => id === entry.toolUseId && status === "running") ??
            tied.findLast(({ status }) => status === "running");
          Object.assign(call ?? {}, { status: "ended", result: entry.content });
        }
      }
      for (const { call, status, result } of tied)
        if (status === "ended") expect(result).toBe(`of ${[...call].map((c) => c.charCodeAt(0)).join()}`);
      expect(tied.filter(({ status }) => status === "running").map(({ call }) => call)).toEqual(running);
    }),
  );
});

test("however long a tool's name is, each of many open calls has a line of its own", () => {
  for (const length of [1, 40, 48, 57, 58, 60, 100, 10_000]) {
    const calls = Array.from({ length: 64 }, (_, index): Entry => {
      return { kind: "tool_call", id: `call_${index}`, tool: "n".repeat(length), title: "", input: {} };
    });
    const ids = asHost(toLines(...calls)).map((entry) => entry.kind === "tool_call" && entry.toolUseId);
    expect(new Set(ids).size).toBe(64);
  }
});
