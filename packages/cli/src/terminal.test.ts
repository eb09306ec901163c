import { expect, test } from "vitest";
import { runCommand } from "./run-command.ts";
import { table } from "./table.ts";
import { cleanTerminal, EXIT, type Terminal } from "./terminal.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
const HOSTILE = [
  "a\u001b]0;owned\u0007b",
  "\u001b[2J\u001b[1;1H",
  "name\nrun released",
  "over\rwritten",
  "\u009b31m",
  "\u202etxt",
  "\u001b]52;c;eA==\u001b\\",
  "\0\u0007\b",
  "tab\tulated",
];

function recorded() {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const terminal: Terminal = { out: print, err: print, env: {}, stopped: new AbortController().signal, now: () => 0 };
  return { lines, terminal };
}

test.each(HOSTILE)("what a command prints is one line that steers nothing: %j", (text) => {
  const { lines, terminal } = recorded();
  cleanTerminal(terminal).out(`pod ${text}: ended`);
  cleanTerminal(terminal).err(`pod ${text}: ended`);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).not.toMatch(UNFIT);
});

test.each(HOSTILE)("a cell of a table keeps its place: %j", (text) => {
  const lines = table([{ title: "AGENT", max: 16 }, { title: "RUN" }, { title: "" }], [[text, "r1", text]]);
  expect(lines.join("")).not.toMatch(UNFIT);
  expect(lines[1]?.indexOf("r1")).toBe(lines[0]?.indexOf("RUN"));
});

test("every command prints through it: an error that quotes its argument, and the help, line by line", async () => {
  const { lines, terminal } = recorded();
  expect(await runCommand(["help", "\u001b[2Jx\ny"], terminal)).toBe(EXIT.usage);
  expect(lines.join("")).toContain('there is no command "x ⏎ y"');
  expect(await runCommand(["help"], terminal)).toBe(EXIT.done);
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) expect(line).not.toMatch(UNFIT);
});
