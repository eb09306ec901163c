import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { nodeCheckText } from "../../generated/node-check-text.ts";
import { RUNNER_EXIT } from "../records.ts";
import { RUNNER_MAIN } from "./runner-files.ts";

const folder = mkdtempSync(join(tmpdir(), "node-check-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "runner.cjs");
const log = join(folder, "termination-log");
writeFileSync(file, nodeCheckText);
writeFileSync(join(folder, RUNNER_MAIN), `console.log(require("node:path").basename(process.argv[1]), process.argv[2])`);

/** A Node that says that it is of this version. */
function start(version: string) {
  const preload = join(folder, "version.cjs");
  writeFileSync(
    preload,
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: ${JSON.stringify(version)} } })`,
  );
  return spawnSync(process.execPath, ["--require", preload, file, log], { encoding: "utf8" });
}

test("a Node that is new enough becomes the runner, under the name that it was started with", () => {
  const { status, stdout } = start("18.0.0");
  expect({ status, stdout }).toEqual({ status: 0, stdout: `runner.cjs ${log}\n` });
});

test("an old one says so, where Kubernetes reads it, and with an exit code of its own", () => {
  const { status, stdout, stderr } = start("12.22.0");
  expect(status).toBe(RUNNER_EXIT.oldRuntime);
  expect(stdout).toBe("");
  expect(stderr).toBe("runner: Node 12.22.0 is too old, the runner needs Node 18 or newer\n");
  expect(readFileSync(log, "utf8")).toContain("Node 12.22.0 is too old");
});

test("an old one can read this file: no syntax and no module name of later versions", () => {
  expect(nodeCheckText).not.toMatch(/\?\.|\?\?|node:|#\w|\basync\b|\*\*|\.\.\.|catch ?\{/);
});
