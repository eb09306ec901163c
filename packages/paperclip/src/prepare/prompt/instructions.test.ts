import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_POLICY } from "../../policy/policy.ts";
import { ANYWHERE } from "../../testing/test-policy.ts";
import { readInstructions } from "./instructions.ts";
import { ServerFiles } from "./server-files.ts";

let top: string;
let volume: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "instructions-"));
  chmodSync(top, 0o755);
  volume = join(top, "volume");
  mkdirSync(join(volume, "agents/a"), { recursive: true });
  mkdirSync(join(top, "server"));
  writeFileSync(join(top, "server/AGENTS.md"), "of the server");
  writeFileSync(join(volume, "agents/a/AGENTS.md"), "of the agent");
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const read = (path: string) => readInstructions(path, volume, new ServerFiles([volume], ANYWHERE), DEFAULT_POLICY);
const AGENTS = "agents/a/AGENTS.md";

function linkInstead(path: string, target: string): void {
  rmSync(path, { recursive: true });
  symlinkSync(target, path);
}

test.each<[string, () => void]>([
  ["of the file, to a file of the server", () => linkInstead(join(volume, AGENTS), join(top, "server/AGENTS.md"))],
  ["of the file, to the server's environment", () => linkInstead(join(volume, AGENTS), "/proc/self/environ")],
  ["of the folder", () => linkInstead(join(volume, "agents/a"), join(top, "server"))],
])("a link on the shared volume brings nothing of the server along: in the place %s", async (_, plant) => {
  plant();
  const { text, warnings } = await read(AGENTS);
  expect(text).toBe("");
  expect(warnings).toEqual([`instructions file ${volume}/${AGENTS} was not read (it leads out of ${volume}); the run goes on without it`]);
});

test("the volume itself may be reached by a link", async () => {
  renameSync(volume, join(top, "mount"));
  symlinkSync(join(top, "mount"), volume);
  expect((await read(AGENTS)).text).toMatch(/^of the agent\n/);
});

test("what the operator has elsewhere on the server is read, links and all", async () => {
  symlinkSync(join(top, "server"), join(top, "link"));
  expect((await read(join(top, "server/AGENTS.md"))).text).toMatch(/^of the server\n/);
  expect((await read(join(top, "link/AGENTS.md"))).text).toMatch(/^of the server\n/);
});
