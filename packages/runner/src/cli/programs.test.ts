import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, preparePod, shell } from "../testing/runner-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "programs-test-"));
afterAll(() => {
  cleanUp();
  rmSync(folder, { recursive: true });
});

// Says what it was called with and where it is, and has the image's program of the same name do the same.
const SCRIPT = `#!/usr/bin/env node
const path = process.env.PATH.split(":").filter((each) => each !== require("node:path").dirname(process.argv[1])).join(":");
console.log("ours", process.argv.slice(2).join());
require("node:child_process").spawnSync(require("node:path").basename(process.argv[1]), process.argv.slice(2), { stdio: "inherit", env: { PATH: path } });
`;

/** The image has a shell and a program of that name, and no Node in its PATH. */
async function run(script: string, env: Record<string, string> = {}) {
  const bin = mkdtempSync(join(folder, "bin-"));
  const tmp = mkdtempSync(join(folder, "tmp's "));
  symlinkSync("/bin/bash", join(bin, "bash"));
  writeFileSync(join(bin, "tool"), '#!/bin/sh\necho "image $1"\n', { mode: 0o755 });
  const pod = preparePod({
    argv: shell(script),
    spec: { programs: { tool: { file: "launcher" } }, env: { TMPDIR: tmp, PATH: bin, HOME: tmp, ...env } },
    files: { launcher: SCRIPT },
  });
  const ended = await pod.start().ended;
  return { ...ended, tmp, bin, output: readFileSync(pod.spec.files.output, "utf8") };
}

test("a program of the run stands before the image's, in a private folder, and needs no Node in the PATH", async () => {
  const { code, output, tmp } = await run("tool 1; tool 2");
  expect({ code, output }).toEqual({ code: 0, output: "ours 1\nimage 1\nours 2\nimage 2\n" });
  expect(readdirSync(tmp)).toHaveLength(1);
});

test("also in a login shell, which sets PATH anew; what the image has bash read is read", async () => {
  const own = join(folder, "image's.sh");
  writeFileSync(own, 'export FROM_IMAGE=yes; PATH="/nowhere:$PATH"\n');
  const script = `echo "PATH=\${PATH#*:}" > "$HOME/.bash_profile"
    bash -lc 'tool login; echo "$FROM_IMAGE"'; bash -c 'tool plain'`;
  const { output } = await run(script, { BASH_ENV: own });
  expect(output).toBe("ours login\nimage login\nyes\nours plain\nimage plain\n");
});

test("where it cannot be written, the CLI has the image's program and the run says so", async () => {
  const { output, meta } = await run("tool 1", { TMPDIR: join(folder, "missing") });
  expect(output).toBe("image 1\n");
  expect(meta).toContainEqual(expect.objectContaining({ type: "note", text: "tool cannot be put before the image's own (ENOENT)" }));
});

test("a spec whose programs are elsewhere is refused", async () => {
  const pod = preparePod({ argv: shell("true"), spec: { programs: { tool: { file: "../launcher" } } } });
  expect(await pod.start().ended).toMatchObject({ code: 212 });
});
