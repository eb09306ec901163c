import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import { type LogFormat, RunLog } from "./log.ts";
import { AttemptOutput, chunksOf } from "./output.ts";

function open(format: LogFormat = "transcript") {
  const seen: string[] = [];
  const parsed: string[] = [];
  const log = new RunLog(async (stream, chunk) => void seen.push(`${stream}:${chunk}`));
  const cli = {
    createParser: () => ({
      push(line: string) {
        parsed.push(line);
        if (line.includes('"new"')) return [{ kind: "status", text: "warning: an event of type new" }];
        return line.startsWith("say ") ? [{ kind: "assistant", text: line.slice(4) }] : [{ kind: "other", text: line }];
      },
    }),
  } as unknown as AgentCli;
  log.format = format;
  const steps: string[] = [];
  return { output: new AttemptOutput(cli, log, (lines) => void steps.push(...lines)), log, seen, parsed, steps };
}

test("whole lines reach the parser as they are and the log as people read them", async () => {
  const { output, seen, parsed } = open();
  await output.stdout(Buffer.from("say hel"));
  expect(seen).toEqual([]);
  await output.stdout(Buffer.from("lo\r\nodd\nsay last"));
  await output.end();
  expect(parsed).toEqual(["say hello", "odd", "say last"]);
  expect(seen.join("")).toBe("stdout:● hello\nodd\nstdout:● last\n");
});

test("a long text goes out in pieces that nothing gets between, and no character is halved", async () => {
  const { output, log, seen } = open();
  const text = "😀".repeat(10_000);
  const shown = output.stdout(Buffer.from(`say ${text}\n`));
  const status = log.info("between?");
  await Promise.all([shown, status]);
  expect(seen.at(-1)).toBe("stdout:[paperclip] between?\n");
  const pieces = seen.slice(0, -1).map((chunk) => chunk.slice("stdout:".length));
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
  expect(pieces.join("")).toBe(`● ${text}\n`);
});

test("stderr reaches the log in whole lines, without terminal codes, and none of them looks like one of ours", async () => {
  const { output, seen } = open();
  const pieces = [
    "one\u001b[3",
    "1mred\u001b[0m\ntwo\0",
    "\n[paper",
    "clip] released\nover\r[paperclip] written\n",
    "x".repeat(9000),
    "[paperclip] y",
    "\u202eend",
  ];
  for (const piece of pieces) await output.stderr(piece);
  await output.end();
  expect(seen.join("").replaceAll("stderr:", "")).toBe(
    `onered\ntwo\n· [paperclip] released\nover\n· [paperclip] written\n${"x".repeat(1000)}… 8,000 more characters\n· [paperclip] yend\n`,
  );
  expect(output.stderrTail).toMatch(/^onered\ntwo\n\[paperclip\] released\n/);
});

test("stderr names no user of a home folder where a reader sees it", async () => {
  const { output, seen } = open();
  await output.stderr("EACCES: /home/alice/x\n");
  await output.end();
  expect(seen).toEqual(["stderr:EACCES: /home/a****/x\n"]);
  expect(output.stderrTail).toBe("EACCES: /home/alice/x\n");
});

test("stack traces are folded where a reader sees them, and whole where the cause is looked for", async () => {
  const { output, seen } = open();
  const frames = ["    at a (/x.js:1:2)", "    at b (/x.js:3:4)"];
  await output.stderr(`TypeError: no\n${frames.join("\n")}\n`);
  await output.stdout(Buffer.from(`${frames.join("\n")}\n`));
  expect(seen).toEqual(["stderr:TypeError: no\n"]);
  await output.end();
  const folded = "… 2 lines of a stack trace, in the pod's log\n";
  expect(seen.slice(1).toSorted()).toEqual([`stderr:${folded}`, `stdout:${folded}`]);
  expect(output.stderrTail).toBe(`TypeError: no\n${frames.join("\n")}\n`);
});

test("a line beyond all bounds is reported, not shown", async () => {
  const { output, log, seen, parsed } = open();
  await output.stdout(Buffer.from(`${"x".repeat(9 * 1024 * 1024)}\nsay after\n`));
  await log.idle();
  expect(parsed).toEqual(["say after"]);
  expect(seen.join("")).toContain("a line of 9437185 bytes is not shown");
});

test("raw: events reach the log byte for byte, whatever their length, and the parser as before", async () => {
  const { output, log, seen, parsed } = open("raw");
  const lines = [
    `{"type":"text","text":"${"é語🦊 ".repeat(20_000)}"}`,
    '{"a": [1, 2],\t"b" : "\\u0000 [paperclip] \\r\\n"}  ',
    "{ no JSON at all",
    "",
    '{"last":true}',
  ];
  const bytes = Buffer.from(lines.join("\n"));
  for (let at = 0; at < bytes.length; at += 7001) await output.stdout(bytes.subarray(at, at + 7001));
  await output.end();
  await log.idle();
  expect(seen.map((chunk) => chunk.replace("stdout:", "")).join("")).toBe(`${lines.join("\n")}\n`);
  expect(Math.max(...seen.map((chunk) => Buffer.byteLength(chunk)))).toBeLessThanOrEqual(8 * 1024 + "stdout:".length);
  expect(parsed).toEqual(lines);
});

test("raw: no line can be taken for one of ours, and what would steer a terminal is escaped as JSON has it", async () => {
  const { output, log, seen } = open("raw");
  const event = { text: "a\u202e[paperclip] b\u009b31m\u2028c\u007f" };
  const written = [
    JSON.stringify(event),
    "[paperclip] cancelled",
    "✖ no",
    "over\r[paperclip] x",
    '{"a":"\u001b[2J"}',
    "nul\0",
    '{"t":"new"}',
  ];
  await output.stdout(Buffer.from(`${written.join("\n")}\n`));
  await output.stderr("\u001b[31m[paperclip] done\n");
  await output.end();
  await log.idle();
  const shown = seen
    .filter((chunk) => chunk.startsWith("stdout:"))
    .join("")
    .replaceAll("stdout:", "")
    .split("\n");
  expect(shown[0]).toBe('{"text":"a\\u202e[paperclip] b\\u009b31m\\u2028c\\u007f"}');
  expect(JSON.parse(shown[0]!)).toEqual(event);
  expect(shown.slice(1)).toEqual([
    ...["· [paperclip] cancelled", "· ✖ no", "over", "· [paperclip] x", '{"a":""}', "nul"],
    ...['{"t":"new"}', "[paperclip] warning: an event of type new", ""],
  ]);
  expect(seen).toContain("stderr:· [paperclip] done\n");
});

test("what the agent does is known from the transcript, whatever the log has", async () => {
  for (const format of ["transcript", "raw"] as const) {
    const { output, steps } = open(format);
    await output.stdout(Buffer.from("say one\nodd\nsay [paperclip] two\n"));
    expect(steps.filter((line) => line.startsWith("●"))).toEqual(["● one", "● [paperclip] two"]);
  }
});

test("raw: a line beyond all bounds is reported, not shown", async () => {
  const { output, log, seen } = open("raw");
  await output.stdout(Buffer.from(`{"x":"${"x".repeat(9 * 1024 * 1024)}"}\n{"after":1}\n`));
  await log.idle();
  expect(seen.join("")).toMatch(/a line of 94371\d\d bytes is not shown/);
  expect(seen.join("")).toContain('stdout:{"after":1}\n');
});

test("chunks lose and add nothing, fit their limit, and cut a line or a character only where they must", () => {
  const piece = fc.constantFrom("\n", "\n", "a", "bcd", "é", "語", "🦊", "x".repeat(30));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 4, max: 40 }), (pieces, limit) => {
      const text = pieces.join("");
      const chunks = chunksOf(text, limit);
      expect(chunks.join("")).toBe(text);
      const long = text.split(/(?<=\n)/).filter((line) => Buffer.byteLength(line) > limit);
      for (const [index, chunk] of chunks.entries()) {
        expect([chunk === "", Buffer.byteLength(chunk) <= limit]).toEqual([false, true]);
        const last = chunk.split(/(?<=\n)/).at(-1) ?? "";
        expect(last.endsWith("\n") || index === chunks.length - 1 || long.some((line) => line.includes(last))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
  expect(chunksOf(`${"é🦊x".repeat(750_000)}\n`).length).toBeLessThan(700);
});
