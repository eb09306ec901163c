import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { call } from "../src/host/api.ts";
import { Company } from "../src/host/company.ts";
import { databasePid } from "../src/server/home.ts";
import { startPaperclip } from "../src/server/server.ts";
import { HOSTS } from "./breadth.ts";

// Started by ourselves, so as root where we are root: the server gives that up, we do not.

const alive = (pid: number | null) => {
  try {
    return pid !== null && process.kill(pid, 0);
  } catch {
    return false;
  }
};

test.each(HOSTS)("%s starts again on its home after it was killed, and leaves nothing", async (version) => {
  const host = await startPaperclip({ version });
  let pids: (number | null)[] = [];
  try {
    const { id } = await Company.create(host, "Kept");
    await host.end("SIGKILL");
    expect(alive(databasePid(host.home))).toBe(true);
    await host.start();
    expect(await call(host, "GET", `/companies/${id}`)).toMatchObject({ name: "Kept" });
    pids = [host.pid, databasePid(host.home)];
    expect(pids.every(alive)).toBe(true);
  } finally {
    await host.stop();
  }
  expect(pids.some(alive)).toBe(false);
  expect(existsSync(host.home.root)).toBe(false);
});
