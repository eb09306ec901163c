import { execFile, execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { LIMITS } from "./limits.ts";
import { RUNNER_EXIT } from "./records.ts";
import { cleanUp, makeFifo, node, preparePod, processesWith, shell, sleep, standstillOf, waitFor } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

const MIB = 1024 * 1024;
const megabytes = (count: number): [string, ...string[]] =>
  node(`const fs = require("node:fs"); const b = Buffer.alloc(${MIB}, "x"); for (let i = 0; i < ${count}; i++)
    for (let at = 0; at < b.length;) at += fs.writeSync(1, b, at); fs.writeSync(2, "reached the end"); process.exitCode = 3`);

describe.concurrent("the lock file", () => {
  test("names the pod, and a second pod starts nothing and writes nothing", async () => {
    const pod = preparePod({ argv: shell("echo ran") });
    const first = await pod.start().ended;
    expect(first.code).toBe(0);
    expect(JSON.parse(readFileSync(pod.spec.files.lock, "utf8"))).toEqual({ run: "run-1", nonce: "n-1", pod: "pod-1" });
    const meta = readFileSync(pod.spec.files.meta);
    const second = await pod.start().ended;
    expect(second.code).toBe(RUNNER_EXIT.alreadyStarted);
    expect(second.message.error).toContain("another pod");
    expect(second.stdout.length).toBe(0);
    expect(readFileSync(pod.spec.files.output, "utf8")).toBe("ran\n");
    expect(readFileSync(pod.spec.files.meta).equals(meta)).toBe(true);
  });

  test("is enough to keep a second pod from starting", async () => {
    const pod = preparePod({ argv: shell("echo ran") });
    writeFileSync(pod.spec.files.lock, "");
    expect((await pod.start().ended).code).toBe(RUNNER_EXIT.alreadyStarted);
    expect(readFileSync(pod.spec.files.output).length + readFileSync(pod.spec.files.meta).length).toBe(0);
  });

  test("files the server did not create are created", async () => {
    const pod = preparePod({ argv: shell("echo ran") });
    rmSync(pod.spec.files.output);
    rmSync(pod.spec.files.meta);
    expect((await pod.start().ended).end).toMatchObject({ written: 4 });
  });
});

test("a node on which processes start slowly is not a slow volume", async () => {
  // Only the runner's own processes are held up, before they have done anything.
  const slow = `if (["--writer", "--task"].includes(process.argv[2])) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)`;
  const saved = mkdtempSync(join(tmpdir(), "runner-state-"));
  const times = { intervalSec: 0, restoreSec: 1, saveSec: 60 };
  const state = { saved, home: saved, parts: [{ kind: "files", path: "none" }], version: null, maxBytes: 1e6, ...times } as const;
  const pod = preparePod({
    argv: shell("echo ran"),
    files: { "slow.cjs": slow },
    env: { NODE_OPTIONS: "--require=./in/slow.cjs" },
    ownProcesses: true,
    spec: { waits: { openMs: 1_000 }, state },
  });
  const ended = await pod.start().ended;
  rmSync(saved, { recursive: true });
  expect(ended.code).toBe(0);
  expect(ended.meta.map(({ type }) => type)).toEqual(["start", "state", "cli-started", "end"]);
});

describe.concurrent("a volume that fails", () => {
  test("no folder: the CLI is not started", async () => {
    const pod = preparePod({ argv: shell("echo ran > ran") });
    rmSync(dirname(pod.spec.files.output), { recursive: true });
    const ended = await pod.start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.noOutput);
    expect(ended.message).toMatchObject({ run: "run-1", nonce: "n-1", cause: "spawn-failed" });
    expect(ended.message.error).toContain("ENOENT");
    expect(ended.stderr).toContain("ENOENT");
    expect(existsSync(`${pod.folder}/ran`)).toBe(false);
  });

  test("an output that cannot be opened: the CLI is not started", async () => {
    const pod = preparePod({ argv: shell("echo ran > ran") });
    rmSync(pod.spec.files.output);
    mkdirSync(pod.spec.files.output);
    const ended = await pod.start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.noOutput);
    expect(ended.message.error).toContain("EISDIR");
    expect(existsSync(`${pod.folder}/ran`)).toBe(false);
  });

  test.skipIf(process.platform !== "linux")("a full one that stays so: the CLI goes on, the loss is counted", async () => {
    const other = preparePod({ argv: shell("") });
    const spec = { files: { ...other.spec.files, output: "/dev/full" }, drainSec: 1, waits: { stallMs: 400 } };
    const pod = preparePod({ argv: megabytes(10), spec });
    const ended = await pod.start().ended;
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("reached the end");
    expect(ended.stderr).toContain("runner: the volume is full, output waits for room: ENOSPC");
    expect(ended.message).toMatchObject({ exitCode: 3, bytes: 10 * MIB, written: 0 });
    expect(ended.message.error).toMatch(/the volume took no output for 0.4 s: ENOSPC/);
    // The container's log has it; how much of it depends on how fast somebody reads that.
    expect(ended.stdout.length).toBeGreaterThan(MIB);
  });

  test("a meta file that has no room costs the records, not the message", async () => {
    const other = preparePod({ argv: shell("") });
    const spec = { files: { ...other.spec.files, meta: "/dev/full" }, drainSec: 1 };
    const ended = await preparePod({ argv: shell("echo ran; exit 4"), spec }).start().ended;
    expect(ended.code).toBe(4);
    expect(ended.message).toMatchObject({ exitCode: 4, bytes: 4 });
    expect(ended.message.error).toContain("ENOSPC");
  });
});

/** Without root there is nothing to mount a volume with. */
describe.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)("a volume that is full for a while", () => {
  let volume = "";
  let ballast = "";
  let files = { output: "", meta: "", lock: "" };
  beforeEach(() => {
    volume = mkdtempSync(join(tmpdir(), "runner-full-"));
    ballast = join(volume, "ballast");
    files = { output: join(volume, "out"), meta: join(volume, "out.meta"), lock: join(volume, "out.claim") };
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", volume]);
    writeFileSync(ballast, Buffer.alloc(8 * MIB - 150_000));
  });
  afterEach(() => {
    execFileSync("umount", ["--lazy", volume]);
    rmSync(volume, { recursive: true });
  });

  test("takes everything in order when there is room again, and says how long that took", async () => {
    // In the records too, in between.
    const script = "seq 1 20000; echo warned >&2; seq 20001 60000";
    const pod = preparePod({ argv: shell(script), spec: { files, drainSec: 1, volumeWaitSec: 100 } });
    const running = pod.start();
    let log = "";
    running.process.stderr?.on("data", (chunk: Buffer) => {
      log += chunk;
    });
    await waitFor(() => log.includes("the volume is full"), "the volume to be full");
    rmSync(ballast);
    const ended = await running.ended;
    const all = Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join("");
    expect(readFileSync(files.output, "utf8")).toBe(all);
    expect(ended.end).toMatchObject({ exitCode: 0, bytes: all.length, written: all.length, error: null });
    const texts = ended.meta.flatMap((record) => ("text" in record ? [record.text] : []));
    expect(texts.join("\n")).toMatch(/warned[\s\S]*the volume has room again after \d+ s; nothing of the output is lost/);
    expect(ended.stderr).toContain("the volume has room again");
  });

  test("with room again after output was given up: what is said does not deny the loss", async () => {
    // It has written everything only when the rest was given up.
    const script = `const fs = require("node:fs"); const b = Buffer.alloc(${MIB}, "x"); for (let i = 0; i < 12; i++)
      for (let at = 0; at < b.length;) at += fs.writeSync(1, b, at); fs.writeFileSync("all-written", "");
      const t = setInterval(() => { if (fs.existsSync("go")) clearInterval(t); }, 20)`;
    const pod = preparePod({ argv: node(script), spec: { files, drainSec: 5, volumeWaitSec: 5, waits: { stallMs: 400 } } });
    const running = pod.start();
    let log = "";
    running.process.stderr?.on("data", (chunk: Buffer) => {
      log += chunk;
    });
    await waitFor(() => existsSync(`${pod.folder}/all-written`), "the CLI's last byte");
    rmSync(ballast);
    await waitFor(() => log.includes("the volume has room again"), "the volume to have room again");
    writeFileSync(`${pod.folder}/go`, "");
    const ended = await running.ended;
    const said = ended.meta.flatMap((record) => (record.type === "note" ? [record.text] : [])).join("\n");
    for (const words of [said, ended.stderr]) {
      expect(words).toMatch(/the volume has room again after \d+ s; a part of the output is lost/);
      expect(words).not.toContain("nothing of the output is lost");
    }
    expect(ended.message.error).toContain("the volume took no output for 0.4 s: ENOSPC");
    expect(ended.message.bytes).toBe(12 * MIB);
    expect(readFileSync(files.output).length).toBe(ended.message.written);
  });
});

const workers = [
  { worker: "the runner", ownProcesses: false },
  { worker: "a process", ownProcesses: true },
] as const;

describe.concurrent.for(workers)("a volume that stalls while $worker writes to it", ({ ownProcesses }) => {
  test("nobody ever opens the pipe: the CLI runs and its code comes out in time", async () => {
    const pod = preparePod({ argv: megabytes(1), ownProcesses, spec: { drainSec: 1, waits: { openMs: 300 } } });
    makeFifo(pod.spec.files.output);
    const ended = await pod.start().ended;
    expect(ended.code).toBe(3);
    expect(ended.message).toMatchObject({ exitCode: 3, bytes: MIB, written: 0 });
    expect(ended.message.error).toContain("volume");
    expect(ended.end).toBeUndefined();
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
  });

  test("the pipe is open and never read: the agent goes on past the buffer", async () => {
    const pod = preparePod({ argv: megabytes(12), ownProcesses, spec: { drainSec: 1, waits: { stallMs: 400 } } });
    makeFifo(pod.spec.files.output);
    const held = openSync(pod.spec.files.output, "r+");
    const ended = await pod.start().ended;
    closeSync(held);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("reached the end");
    expect(ended.message.bytes).toBe(12 * MIB);
    expect(ended.message.written).toBeLessThan(MIB);
    expect(ended.message.error).toContain("took no output for 0.4 s");
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
  });

  test("and comes back: what could be buffered arrives, in order, and the end record with it", async () => {
    const pod = preparePod({
      argv: shell("i=0; while [ $i -lt 2000 ]; do echo line-$i; i=$((i+1)); done; : > all-written"),
      ownProcesses,
      spec: { waits: { openMs: 100 } },
    });
    makeFifo(pod.spec.files.output);
    const running = pod.start();
    await waitFor(() => existsSync(`${pod.folder}/all-written`), "the CLI's last line");
    const script = `require("node:fs").createReadStream(${JSON.stringify(pod.spec.files.output)}).pipe(process.stdout)`;
    const read = new Promise<string>((resolve) => execFile(process.execPath, ["-e", script], (_, out) => resolve(out)));
    const ended = await running.ended;
    expect(await read).toBe(Array.from({ length: 2000 }, (_, i) => `line-${i}\n`).join(""));
    expect(ended.end).toMatchObject({ exitCode: 0, bytes: ended.end?.written, lines: 2000, error: null });
    expect(ended.meta.map((record) => record.type)).toEqual(["start", "note", "cli-started", "end"]);
  });

  test("a lock file of another pod that is seen late ends the CLI", async () => {
    const pod = preparePod({ argv: shell("exec sleep 600"), ownProcesses, spec: { waits: { openMs: 1 } } });
    writeFileSync(pod.spec.files.lock, "");
    const ended = await pod.start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.alreadyStarted);
    expect(readFileSync(pod.spec.files.meta).length).toBe(0);
  });
});

describe.concurrent("the container's log", () => {
  test("that nobody reads stops neither the agent nor the exit", async () => {
    const pod = preparePod({ argv: megabytes(12), log: "blocked", spec: { drainSec: 8 } });
    const ended = await pod.start().ended;
    expect(ended.code).toBe(3);
    expect(ended.end).toMatchObject({ bytes: 12 * MIB, written: 12 * MIB, error: null });
    expect(JSON.stringify(ended.meta)).toContain("not copied to the container's log");
  });

  test("that is closed does not matter", async () => {
    const pod = preparePod({ argv: shell("sleep 0.3; echo a; echo b >&2; sleep 0.1; echo c; exit 3") });
    const running = pod.start();
    running.process.stdout?.destroy();
    running.process.stderr?.destroy();
    const ended = await running.ended;
    expect(ended.code).toBe(3);
    expect(ended.end).toMatchObject({ bytes: 4, written: 4 });
  });
});

/** Reads a pipe to its end in a process of its own, and says how much there was. */
function readPipe(file: string): Promise<number> {
  const script = `let n = 0; require("node:fs").createReadStream(${JSON.stringify(file)}).on("data", (b) => { n += b.length }).on("end", () => console.log(n))`;
  return new Promise((resolve) => execFile(process.execPath, ["-e", script], (_, out) => resolve(Number(out))));
}

test("a slow volume slows the CLI: nothing is lost and nothing piles up", async () => {
  const total = 40;
  const script = `const fs = require("node:fs"); const b = Buffer.alloc(${MIB}, "x"); for (let i = 1; i <= ${total}; i++) {
    for (let at = 0; at < b.length;) at += fs.writeSync(1, b, at); fs.appendFileSync("taken", "x") }`;
  const pod = preparePod({ argv: node(script), spec: { waits: { stallMs: 600_000 } }, log: "ignore" });
  makeFifo(pod.spec.files.output);
  const held = openSync(pod.spec.files.output, "r+");
  const running = pod.start();
  const taken = join(pod.folder, "taken");
  await waitFor(() => existsSync(taken), "the CLI's first MiB");
  // Nobody reads: only as much is taken from the CLI as the runner may hold.
  expect((await standstillOf(() => statSync(taken).size)) * MIB).toBeLessThan(LIMITS.unwritten + 2 * MIB);
  const read = readPipe(pod.spec.files.output);
  const ended = await running.ended;
  closeSync(held);
  expect(await read).toBe(total * MIB);
  expect(ended.end).toMatchObject({ exitCode: 0, bytes: total * MIB, written: total * MIB, error: null });
});

test.each([
  ["within the drain time", { drainSec: 100 }, 300],
  ["after it, while nobody stops the pod", { drainSec: 1, volumeWaitSec: 100 }, 2500],
])("a volume that comes back %s has cost nothing", async (_, times, awayMs) => {
  const script = `const fs = require("node:fs"); const b = Buffer.alloc(${4 * MIB + 50_000}, "x"); for (let at = 0; at < b.length;) at += fs.writeSync(1, b, at);
    fs.writeFileSync("all-written", "")`;
  // What is beyond the buffer fits into the CLI's pipe.
  const pod = preparePod({ argv: node(script), spec: { ...times, waits: { leftoverMs: 100 } } });
  makeFifo(pod.spec.files.output);
  const held = openSync(pod.spec.files.output, "r+");
  const running = pod.start();
  await waitFor(() => existsSync(`${pod.folder}/all-written`), "the CLI's last byte");
  // Longer than what outlives a CLI is waited for.
  await sleep(awayMs);
  const read = readPipe(pod.spec.files.output);
  const ended = await running.ended;
  closeSync(held);
  expect(await read).toBe(4 * MIB + 50_000);
  expect(ended.end).toMatchObject({ exitCode: 0, bytes: 4 * MIB + 50_000, written: 4 * MIB + 50_000, error: null });
});

test("a pod that is stopped while a hung volume is waited for has only the drain time left", async () => {
  const pod = preparePod({ argv: shell("echo one; : > all-written"), spec: { drainSec: 1, volumeWaitSec: 1000, waits: { openMs: 100 } } });
  makeFifo(pod.spec.files.output);
  const running = pod.start();
  await waitFor(() => existsSync(`${pod.folder}/all-written`), "the CLI's end");
  await sleep(300);
  running.process.kill("SIGTERM");
  const ended = await running.ended;
  expect(ended.message).toMatchObject({ exitCode: 0, bytes: 4, written: 0 });
  expect(ended.message.error).toMatch(/the volume did not take the output within \d+ s of the CLI's end/);
});

/** All that is in a pipe, and after it so much that nothing fits any more. */
function readAndFill(pipe: number): { readonly read: () => string; readonly fill: () => void } {
  const piece = Buffer.alloc(64 * 1024);
  let text = "";
  const whileItWorks = (call: () => void): void => {
    try {
      for (;;) call();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  };
  return {
    read: () => {
      whileItWorks(() => {
        text += piece.toString("utf8", 0, readSync(pipe, piece));
      });
      return text;
    },
    fill: () => {
      for (const size of [4096, 1]) whileItWorks(() => writeSync(pipe, Buffer.alloc(size, " ")));
    },
  };
}

test.each(workers)(
  "nor has one that is stopped while its end record waits for the volume, and $worker writes it",
  async ({ ownProcesses }) => {
    const script = "echo one; while [ ! -e go ]; do sleep 0.05; done";
    const pod = preparePod({ argv: shell(script), ownProcesses, spec: { drainSec: 1, volumeWaitSec: 1000 } });
    makeFifo(pod.spec.files.meta);
    const held = openSync(pod.spec.files.meta, constants.O_RDWR | constants.O_NONBLOCK);
    const { read, fill } = readAndFill(held);
    const running = pod.start();
    await waitFor(() => read().includes("cli-started") && statSync(pod.spec.files.output).size === 4, "the CLI's output");
    const cli = Number(/"pid":(\d+)/.exec(read())?.[1]);
    fill();
    writeFileSync(`${pod.folder}/go`, "");
    await waitFor(() => !existsSync(`/proc/${cli}`), "the CLI's end");
    // A runner that is not as far yet is only a milder test.
    await sleep(500);
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    closeSync(held);
    expect(ended.code).toBe(0);
    expect(ended.message).toMatchObject({ exitCode: 0, cause: "exit", bytes: 4, written: 4, error: null });
  },
);
