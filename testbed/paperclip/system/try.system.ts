import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, inject, test } from "vitest";
import { until } from "../src/wait.ts";

// The newcomer's command, as npm starts it.

const MAIN = join(import.meta.dirname, "../src/try/main.ts");
// All it leaves would be here; it gives up root, so anybody may write.
const place = mkdtempSync(join(tmpdir(), "try-"));
chmodSync(place, 0o777);
let child: ReturnType<typeof spawn> | null = null;
afterEach(() => void child?.kill("SIGKILL"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

function start(...args: string[]): { said(): string; ended: Promise<number | null> } {
  let said = "";
  const own = spawn(process.execPath, [MAIN, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // A build of its own would take the command line from under a test beside us.
    env: { ...process.env, TMPDIR: place, PACKED_ADAPTERS: inject("packed").folder },
  });
  child = own;
  const hear = (chunk: Buffer) => {
    said += chunk;
  };
  own.stdout.on("data", hear);
  own.stderr.on("data", hear);
  return { said: () => said, ended: new Promise((resolve) => own.once("close", resolve)) };
}

test("both agents finish their issues, the page is there, and Ctrl-C leaves nothing", async () => {
  const { said, ended } = start();
  const isOver = async () => child?.exitCode !== null || said().includes("Both agents are done");
  await until("both agents at their end", isOver).catch((error: Error) => {
    throw new Error(`${error.message}\n${said()}`);
  });
  expect(child?.exitCode, said()).toBeNull();
  expect(said().match(/: succeeded, 114 tokens out, \$0\.\d+/g)).toHaveLength(2);
  const page = /http:\/\/127\.0\.0\.1:\d+\/\w+\/dashboard/.exec(said())?.[0];
  const answer = await fetch(page!);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("<title>");
  expect(readdirSync(place).length).toBeGreaterThan(0);
  child?.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(readdirSync(place)).toEqual([]);
  await expect(fetch(page!)).rejects.toThrow();
});

test("an unknown option is reported, with the help", async () => {
  const { said, ended } = start("--cube");
  expect(await ended).toBe(2);
  expect(said()).toMatch(/Unknown option[\s\S]*npm run paperclip -- --kube/);
});
