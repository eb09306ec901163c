import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { copyToolsText } from "@paperclip-k8s/runner/copy-tools-text";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectTools, ToolsError, type ToolsManifest } from "./collect.ts";
import { elfFile } from "./libraries.ts";

// Real programs of this machine, moved to a folder with a path as short as the one that pods use.

const scratch = mkdtempSync("/tmp/t-");
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let manifest: ToolsManifest;
beforeAll(async () => {
  manifest = await collectTools({ out: scratch, mount: scratch, programs: { node: process.execPath, other: process.execPath } });
});

test("each program starts with the folder's loader and libraries, and with nothing of the machine", () => {
  expect(manifest).toMatchObject({ format: 1, mountPath: scratch, programs: { node: process.version, other: process.version } });
  expect(manifest.libraries).toContain("libc.so.6");
  expect(elfFile(join(scratch, "bin/node")).interpreter?.path).toBe(`${scratch}/ld.so`);
  const report = `console.log(JSON.stringify([process.execPath, process.report.getReport().sharedObjects]))`;
  const [program, loaded] = JSON.parse(execFileSync(join(scratch, "bin/node"), ["-e", report], { encoding: "utf8" })) as [string, string[]];
  expect(program).toBe(join(scratch, "bin/node"));
  const libraries = loaded.filter((path) => path.startsWith("/"));
  expect(libraries.length).toBeGreaterThan(3);
  for (const path of libraries) expect(path.startsWith(`${scratch}/`), path).toBe(true);
});

test("what it starts in its turn is the machine's own: no variable leads it to the tools", () => {
  const script = `console.log(JSON.stringify(Object.keys(process.env).filter((name) => name.startsWith("LD_"))))`;
  expect(execFileSync(join(scratch, "bin/node"), ["-e", script], { encoding: "utf8", env: {} })).toBe("[]\n");
  const child = `console.log(require("child_process").execFileSync("/bin/sh", ["-c", "echo \\$0"], { encoding: "utf8" }))`;
  expect(execFileSync(join(scratch, "bin/node"), ["-e", child], { encoding: "utf8" }).trim()).toBe("/bin/sh");
});

describe("copied into a pod's folder", () => {
  const copy = (to: string, ...programs: string[]) =>
    execFileSync(join(scratch, "bin/node"), [join(scratch, "copy.cjs"), to, ...programs], { encoding: "utf8", stdio: "pipe" });

  test("the programs that the run needs, and no other", () => {
    const to = join(scratch, "pod");
    copy(to, "node", "shell?");
    expect(readFileSync(join(scratch, "copy.cjs"), "utf8")).toBe(copyToolsText);
    expect(existsSync(join(to, "bin/other"))).toBe(false);
    // It has the paths of the folder it was made for: its loader is there.
    expect(execFileSync(join(to, "bin/node"), ["--version"], { encoding: "utf8" }).trim()).toBe(process.version);
    expect(readFileSync(join(to, "ld.so")).equals(readFileSync(join(scratch, "ld.so")))).toBe(true);
  });

  test("one that may be missing is copied where it is there", () => {
    const to = join(scratch, "pod-3");
    copy(to, "node", "other?");
    expect(existsSync(join(to, "bin/other"))).toBe(true);
  });

  test("a program that the tools do not have is named", () => {
    expect(() => copy(join(scratch, "pod-2"), "node", "agent-cli")).toThrow(/the tools image has no agent-cli; it has node, other/);
  });
});

describe("refused by name", () => {
  const folder = mkdtempSync(join(tmpdir(), "collect-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const collect = (program: string, mount = "/tmp/t") => collectTools({ out: join(folder, "out"), mount, programs: { program } });

  test("a script, a file of another processor, a path without room", async () => {
    const script = join(folder, "script");
    writeFileSync(script, "#!/bin/sh\n");
    await expect(collect(script)).rejects.toThrow(new ToolsError(`${script} is not an ELF file`));
    const foreign = join(folder, "foreign");
    writeFileSync(foreign, Buffer.from(readFileSync("/bin/sh").subarray(0, 64)).fill(40, 18, 19));
    await expect(collect(foreign)).rejects.toThrow(/foreign is for another processor/);
    await expect(collect(process.execPath, `/tmp/${"t".repeat(40)}`)).rejects.toThrow(/has room for a loader's path of \d+ bytes/);
  });

  test("a library that is not on this machine", async () => {
    const bytes = readFileSync("/bin/sh");
    const at = bytes.indexOf("libc.so.6\0");
    expect(at).toBeGreaterThan(0);
    bytes.write("libx.so.6", at);
    const broken = join(folder, "broken");
    writeFileSync(broken, bytes);
    rmSync(join(folder, "out"), { recursive: true, force: true });
    await expect(collect(broken)).rejects.toThrow(new ToolsError(`${broken} needs libx.so.6, which is not on this machine`));
  });

  test("a folder that has something in it", async () => {
    await expect(collectTools({ out: folder, mount: "/tmp/t", programs: { node: process.execPath } })).rejects.toThrow(/is not empty/);
  });

  test("a collected program that does not start", async () => {
    const failing = join(folder, "failing");
    copyFileSync("/bin/false", failing);
    chmodSync(failing, 0o755);
    const out = mkdtempSync("/tmp/t-");
    try {
      await expect(collectTools({ out, mount: out, programs: { failing } })).rejects.toThrow(/was collected and does not start \(1\)/);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });

  test("a link is followed to the program it leads to", async () => {
    const link = join(folder, "link");
    symlinkSync(process.execPath, link);
    const out = mkdtempSync("/tmp/t-");
    try {
      const { programs } = await collectTools({ out, mount: "/tmp/elsewhere", programs: { node: link } });
      expect(programs).toEqual({ node: process.version });
      expect(basename(out)).toMatch(/^t-/);
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  });
});
