import { expect, test } from "vitest";
import { COMMANDS } from "./arguments/command.ts";
import { HELP, OVERVIEW } from "./help.ts";
import { age, count, table, WIDTH, wrap } from "./table.ts";

test("columns are as wide as they need to be, and cut where they may not be", () => {
  const lines = table(
    [{ title: "A", max: 4 }, { title: "LONGER" }, { title: "" }],
    [
      ["abcdef", "x", "one"],
      ["a", "yy", "two"],
    ],
  );
  expect(lines).toEqual(["A     LONGER", "abc…  x       one", "a     yy      two"]);
});

test("the last column is wrapped below itself; no line is wider than the page", () => {
  const text = `${"word ".repeat(60)}${"x".repeat(150)}`;
  const lines = table([{ title: "ISSUE" }, { title: "JOB" }], [["A-1", text]]);
  expect(lines.length).toBeGreaterThan(4);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(WIDTH);
  expect(lines.slice(2, -2).every((line) => line.startsWith("       "))).toBe(true);
  expect(lines.join("").replaceAll(/\s/g, "")).toContain("x".repeat(150));
});

test("a long name is not broken: it moves to the left as far as it must", () => {
  const name = "n".repeat(90);
  expect(table([{ title: "ISSUE" }, { title: "RUN" }, { title: "JOB" }], [["ACME-1", "0b5b9c1e", `over; ${name}`]])).toEqual([
    "ISSUE   RUN       JOB",
    "ACME-1  0b5b9c1e  over;",
    " ".repeat(10) + name,
  ]);
});

test("words are kept whole where they fit", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("", 7)).toEqual([""]);
  expect(wrap("one abcdefghij two", 4)).toEqual(["one", "abcdefghij", "two"]);
  expect(wrap("abcdefghij two", 4)).toEqual(["", "abcdefghij", "two"]);
});

test("help fits the page too", () => {
  for (const text of [OVERVIEW, ...COMMANDS.map((name) => HELP[name])])
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(WIDTH);
});

test("numbers and ages", () => {
  expect([count(1, "run"), count(2, "run"), count(0, "run")]).toEqual(["1 run", "2 runs", "0 runs"]);
  const now = Date.parse("2026-01-10T00:00:00Z");
  const ago = (seconds: number) => age(new Date(now - seconds * 1000).toISOString(), now);
  expect([ago(5), ago(119), ago(150), ago(7300), ago(200_000), age(null, now)]).toEqual(["5s", "119s", "2m", "2h", "2d", "-"]);
});
