import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { HELP, parseOptions, SECTIONS } from "./options.ts";

test("all sections unless some are named; a comparison is measured alone unless they are", () => {
  expect([...parseOptions([]).sections]).toEqual(SECTIONS);
  expect([...parseOptions(["--only", "start,next"]).sections]).toEqual(["start", "next"]);
  expect(parseOptions(["--compare", "x.js"]).sections.size).toBe(0);
  expect([...parseOptions(["--compare", "x.js", "--only", "start"]).sections]).toEqual(["start"]);
});

test("a comparison has its entry, its settings and its variables", () => {
  const folder = mkdtempSync(join(tmpdir(), "bench-options-"));
  try {
    writeFileSync(join(folder, "config.json"), `{"namespace":"other"}`);
    const args = ["--compare", "x.js", "--compare-config", join(folder, "config.json"), "--compare-env", "A=1=2"];
    expect(parseOptions(args).compare).toEqual({ entry: resolve("x.js"), config: { namespace: "other" }, env: { A: "1=2" }, path: null });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what cannot be meant is refused", () => {
  for (const args of [
    ["--only", "nothing"],
    ["--runs", "0"],
    ["--seconds", "x"],
    ["--cluster", "moon"],
    ["--compare-env", "A=1"],
  ])
    expect(() => parseOptions(args), args.join(" ")).toThrow(args[0]);
  expect(() => parseOptions(["--compare", "x.js", "--compare-env", "A"])).toThrow("NAME=value");
});

test("the help names every section", () => {
  for (const name of SECTIONS) expect(HELP).toContain(`\n    ${name} `);
});
