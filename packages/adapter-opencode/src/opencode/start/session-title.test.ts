import { expect, test } from "vitest";
import { argv } from "../argv.ts";
import { hasOwnTitle, sessionTitle } from "./session-title.ts";

test.each([
  ["Fix the login page", "Fix the login page"],
  ["  two\nlines\t\u0000\u001b[31m and\u2028more \u202e ", "two lines [31m and more"],
  ["--model evil/x", "--model evil/x"],
  ["\ud800 lone", "lone"],
  ["", "Paperclip task"],
  ["\n", "Paperclip task"],
  [null, "Paperclip task"],
])("%j as a title", (about, title) => {
  expect(sessionTitle(about)).toBe(title);
});

test("a long one is cut between characters", () => {
  expect(sessionTitle("🙂".repeat(500))).toBe(`${"🙂".repeat(80)}…`);
  expect(sessionTitle("a".repeat(10_000_000))).toHaveLength(81);
});

test("a new session has it in one argument, a resumed one keeps its own", () => {
  expect(argv({ title: "--model evil/x" })).toEqual(["opencode", "run", "--format", "json", "--title=--model evil/x"]);
  expect(argv({ sessionId: "ses_1", title: "new" })).toEqual(["opencode", "run", "--format", "json", "--session", "ses_1"]);
});

test.each(["--title", "--title=x", "--continue", "-c", "--session=s", "-s", "--fork"])("the agent's own %s goes before ours", (arg) => {
  expect([hasOwnTitle(["--agent", "plan", arg]), hasOwnTitle([`-${arg}`, "--titles"])]).toEqual([true, false]);
});
