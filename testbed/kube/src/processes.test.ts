import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { kill, processesOf, signal } from "./processes.ts";

const folder = mkdtempSync(join(tmpdir(), "kube-processes-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a process is known by the path it was started with, and by nothing else", async () => {
  const own = join(folder, "sleep");
  copyFileSync("/bin/sleep", own);
  const ours = spawn(own, ["100"]);
  const other = spawn("/bin/sh", ["-c", "read line", own]); // mentions the path, is not it
  try {
    await Promise.all([once(ours, "spawn"), once(other, "spawn")]);
    expect(processesOf(own)).toEqual([ours.pid]);
    const ended = once(ours, "exit");
    await kill(own);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(processesOf(own)).toEqual([]);
    signal(own, "SIGKILL"); // nobody there is no failure
    expect(other.exitCode).toBeNull();
  } finally {
    ours.kill("SIGKILL");
    other.kill("SIGKILL");
  }
});
