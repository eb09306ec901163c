import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { socketPath } from "@paperclip-k8s/paperclip/control-socket";
import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../terminal.ts";
import { drain } from "./drain.ts";

const env = { PAPERCLIP_HOME: "/data" };

/** Adapters that answer with these lines; null = never. What the command prints, and its exit code. */
async function drained(answers: (string | null)[], undo = false) {
  const folder = mkdtempSync(join(tmpdir(), "drain-"));
  const servers = answers.map((answer, index) => {
    const server = createServer((socket) => void (answer === null || socket.end(answer)));
    return server.listen(socketPath(folder, env, 100 + index, "abcdef") ?? "");
  });
  onTestFinished(() => {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all(servers.map((server) => server.listening || new Promise((resolve) => server.once("listening", resolve))));
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const terminal = { out: print, err: print, env, stopped: new AbortController().signal, now: () => 0 };
  const command = { name: "drain", undo, reason: null, timeoutSec: 1 } as const;
  const code = await drain(command, terminal, { folders: [folder], timeoutMs: 300 });
  return { code, text: lines.join("\n") };
}

const answer = (change: object = {}) => JSON.stringify({ adapter: "opencode_k8s", pid: 7, detached: ["r1"], staying: [], ...change });

test("all runs are detached, and every adapter says so", async () => {
  const { code, text } = await drained([answer(), answer({ adapter: "claude_k8s", detached: [] })]);
  expect(text).toMatch(/^opencode_k8s \(process 7\): 1 run detached, 0 left$/m);
  expect(text).toMatch(/^detached 1 run$/m);
  expect(code).toBe(EXIT.done);
});

test("a run that stays is left", async () => {
  expect(await drained([answer({ staying: ["r2"] })])).toEqual({ code: EXIT.left, text: expect.stringContaining("; 1 left to recover") });
});

test("an adapter that does not answer is named, and the drain has not succeeded although another one answered", async () => {
  for (const undo of [false, true]) {
    const { code, text } = await drained([answer(), null], undo);
    expect(text).toMatch(/an adapter in process 101 did not say what it did: no answer within/);
    expect(code).toBe(EXIT.left);
  }
});

test("nobody is there", async () => {
  expect(await drained([])).toEqual({ code: EXIT.left, text: expect.stringContaining("no adapter answers here") });
});
