import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sendCommand } from "./control-client.ts";
import { type ControlServer, startControlServer } from "./control-server.ts";
import { type ControlCommand, encodeCommand, parseCommand, socketFolders, socketPath } from "./control-socket.ts";
import { RunRegistry } from "./run-registry.ts";

let folder = "";
const servers: ControlServer[] = [];
const env = { PAPERCLIP_HOME: "/data" };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "control-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(registry: RunRegistry, adapter: string, folders = [folder]): Promise<ControlServer> {
  const server = await startControlServer(registry, { adapter: () => adapter, env, folders });
  servers.push(server);
  return server;
}
const drain = (timeoutMs = 1000): ControlCommand => ({ command: "drain", reason: "upgrade", timeoutMs });
const send = (command: ControlCommand, options: { env?: NodeJS.ProcessEnv; timeoutMs?: number } = {}) =>
  sendCommand(command, { env, folders: [folder], ...options });
const NOBODY = { answers: [], unanswered: [] };

test("every adapter is asked, and says which runs it has detached", async () => {
  const [one, two] = [new RunRegistry(), new RunRegistry()];
  await start(one, "opencode_k8s");
  await start(two, "claude_k8s");
  const record = {
    stored: async () => {},
    run: async () => ({ status: "failed", errorCode: "k8s_detached" }),
    isFinished: async () => true,
  };
  const registration = one.register({ runId: "r1", detachable: true, record });
  registration.detach.addEventListener("abort", () => registration.end());
  two.register({ runId: "r2", detachable: false, record: null });
  const { answers, unanswered } = await send(drain());
  expect(answers.toSorted((a, b) => a.adapter.localeCompare(b.adapter))).toEqual([
    { adapter: "claude_k8s", pid: process.pid, detached: [], staying: ["r2"] },
    { adapter: "opencode_k8s", pid: process.pid, detached: ["r1"], staying: [] },
  ]);
  expect([unanswered, one.isDraining, two.isDraining]).toEqual([[], true, true]);
  await send({ command: "undo" });
  expect([one.isDraining, two.isDraining]).toEqual([false, false]);
});

test("another instance's adapters are not asked", async () => {
  await start(new RunRegistry(), "opencode_k8s");
  expect(await send({ command: "undo" }, { env: { PAPERCLIP_HOME: "/elsewhere" } })).toEqual(NOBODY);
});

test("a folder that can hold no socket gives way to the next", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  const long = join(folder, "x".repeat(100));
  const server = await start(new RunRegistry(), "opencode_k8s", [join(file, "below"), long, folder]);
  expect(server.path?.startsWith(`${folder}/`)).toBe(true);
  expect((await start(new RunRegistry(), "opencode_k8s", [long])).path).toBeNull();
});

test("a folder that others may write to is not used", async () => {
  const shared = join(folder, "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  expect((await start(new RunRegistry(), "opencode_k8s", [shared])).path).toBeNull();
});

test("nobody is behind what a killed process left, and the next server removes it", async () => {
  const dead = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
  const stale = socketPath(folder, env, dead, "abc123") ?? "";
  // A file of that name answers like a socket without a process.
  writeFileSync(stale, "");
  expect(await send({ command: "undo" })).toEqual(NOBODY);
  await start(new RunRegistry(), "opencode_k8s");
  expect(existsSync(stale)).toBe(false);
});

test("a closed server leaves nothing; nonsense is not answered", async () => {
  const server = await startControlServer(new RunRegistry(), { adapter: () => "opencode_k8s", env, folders: [join(folder, "own")] });
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(server.path ?? "", () => socket.write("hello\n"));
    socket.on("data", (piece) => {
      text += piece;
    });
    socket.on("close", () => resolve(text));
  });
  expect(answer).toBe("");
  await server.close();
  expect(readdirSync(folder)).toEqual([]);
  for (const line of ["null", "[]", "7", '{"act":"drain"}', '{"act":"status"}']) expect(parseCommand(line)).toBeNull();
});

test("an adapter that does not answer, or answers nonsense, is named beside those that do", async () => {
  await start(new RunRegistry(), "opencode_k8s");
  const mute = createServer(() => {}).listen(socketPath(folder, env, 4711, "mute00") ?? "");
  const wrong = createServer((socket) => socket.end("{}\n")).listen(socketPath(folder, env, 4712, "wrong0") ?? "");
  try {
    const { answers, unanswered } = await send(drain(300), { timeoutMs: 300 });
    expect(answers).toHaveLength(1);
    expect(unanswered.toSorted((a, b) => a.pid - b.pid)).toEqual([
      { pid: 4711, why: expect.stringContaining("no answer") },
      { pid: 4712, why: expect.stringContaining("cannot be read") },
    ]);
  } finally {
    mute.close();
    wrong.close();
  }
});

test("an instance is the same however its home is spelled", () => {
  const other = { PAPERCLIP_HOME: "/data/" };
  expect(socketPath(folder, other, 1, "abc123")).toBe(socketPath(folder, env, 1, "abc123"));
  expect(socketFolders(other)).toEqual(socketFolders(env));
});

test("a server listens in its container's own folders only, wherever the temporary folder is", () => {
  expect(socketFolders(env).at(0)).toContain(tmpdir());
  const home = join(tmpdir(), "..");
  for (const folder of socketFolders({ PAPERCLIP_HOME: home })) expect(folder.startsWith(join(tmpdir(), "/"))).toBe(false);
});

test("a server of an earlier version is found on the volume, but only where no other one is", async () => {
  const earlier = join(folder, "earlier");
  await start(new RunRegistry(), "earlier_k8s", [earlier]);
  const [own, ask] = [join(folder, "own"), { command: "undo" } as const];
  const found = await sendCommand(ask, { env, folders: [own], earlier });
  expect(found.answers.map(({ adapter }) => adapter)).toEqual(["earlier_k8s"]);
  await start(new RunRegistry(), "opencode_k8s", [own]);
  expect((await sendCommand(ask, { env, folders: [own], earlier })).answers.map(({ adapter }) => adapter)).toEqual(["opencode_k8s"]);
});

test("a folder that is a link, or that others may enter, is not used", async () => {
  const open = join(folder, "open");
  mkdirSync(open, { mode: 0o755 });
  const target = join(folder, "target");
  mkdirSync(target, { mode: 0o700 });
  symlinkSync(target, join(folder, "link"));
  for (const one of [open, join(folder, "link")]) expect((await start(new RunRegistry(), "opencode_k8s", [one])).path).toBeNull();
});

test.each([
  ["an answer without end", (socket: Socket) => void endless(socket)],
  ["texts that cannot be converted", (socket: Socket) => socket.end('{"adapter":"a","pid":1,"detached":[{"toString":1}],"staying":[]}\n')],
  ["a number in a text", (socket: Socket) => socket.end('{"adapter":"a","pid":"\\u001b[2J","detached":[],"staying":[]}\n')],
  ["nesting without end", (socket: Socket) => socket.end(`{"adapter":${"[".repeat(500_000)}`)],
  ["a broken connection", (socket: Socket) => socket.destroy()],
])("whoever listens in an adapter's place can do no harm: %s", async (_, answer) => {
  const hostile = createServer((socket) => answer(socket.on("error", () => {}))).listen(socketPath(folder, env, 4711, "evil00") ?? "");
  try {
    const { answers, unanswered } = await send(drain(60_000));
    expect([answers, unanswered]).toEqual([[], [{ pid: 4711, why: expect.stringMatching(/^its answer|^it closed/) }]]);
  } finally {
    hostile.close();
  }
});

function endless(socket: Socket): void {
  const write = (): void => void (socket.destroyed || socket.write("x".repeat(64 * 1024), () => write()));
  write();
}

test("whoever connects can do no harm: commands without end or sense are cut off", async () => {
  const registry = new RunRegistry();
  const server = await start(registry, "opencode_k8s");
  for (const text of ["x".repeat(100_000), `${" ".repeat(5000)}{"act":"undo"}\n`, `${"[".repeat(4000)}\n`])
    await new Promise<void>((resolve) => {
      const socket = connect(server.path ?? "", () => socket.write(text));
      socket.on("error", () => {});
      socket.on("data", () => expect.unreachable());
      socket.on("close", () => resolve());
    });
  expect(registry.isDraining).toBe(false);
  expect((await send({ command: "undo" })).answers).toHaveLength(1);
});

test("a command line of the first release is understood, and so is this one by its adapters", () => {
  const line = '{"act":"drain","patienceMs":90000,"reason":"upgrade"}';
  expect(parseCommand(line)).toEqual({ command: "drain", timeoutMs: 90_000, reason: "upgrade" });
  expect(encodeCommand({ command: "drain", timeoutMs: 90_000, reason: "upgrade" })).toBe(`${line}\n`);
  expect(encodeCommand({ command: "undo" })).toBe('{"act":"undo"}\n');
});
