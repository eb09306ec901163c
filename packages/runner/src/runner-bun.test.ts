import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, makeFifo, node, oddSeconds, preparePod, processesWith, runPod, shell, waitFor } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

const name = ["open", "code"].join("");
const binary = fileURLToPath(new URL(`../../../node_modules/.bin/${name}`, import.meta.url));
const bun = { runtime: binary, env: { BUN_BE_BUN: "1" } };
const MIB = 1024 * 1024;

// Only where there is time: Bun is on its way out.
describe.skipIf(!process.env.LONG || !existsSync(binary)).concurrent("under Bun", () => {
  test("a plain run", async () => {
    const stdin = Buffer.from("a $(X) $$ \\ 🙂\n".repeat(50_000));
    const pod = preparePod({ ...bun, argv: shell("cat; echo oops >&2; exit 3"), stdin });
    const ended = await pod.start().ended;
    expect(ended.code).toBe(3);
    expect(readFileSync(pod.spec.files.output).equals(stdin)).toBe(true);
    expect(ended.stdout.equals(stdin)).toBe(true);
    expect(ended.end).toMatchObject({ exitCode: 3, bytes: stdin.length, written: stdin.length, error: null });
    expect(ended.meta.map((record) => record.type)).toEqual(["start", "cli-started", "stderr", "end"]);
    expect(ended.meta[0]).toMatchObject({ runtime: expect.stringMatching(/^bun \d/) });
  });

  test("the runtime's switch does not reach the CLI", async () => {
    const ended = await runPod({ ...bun, argv: node("process.stdout.write(String(process.env.BUN_BE_BUN))") });
    expect(ended.stdout.toString()).toBe("undefined");
  });

  test("the time limit, with a CLI that ignores SIGTERM and leaves a child", async () => {
    const odd = oddSeconds(31);
    const argv = shell(`trap '' TERM; sleep ${odd} & echo up; wait; wait; sleep ${odd}`);
    const ended = await runPod({ ...bun, argv, spec: { timeoutSec: 0.4, graceSec: 0.4, waits: { leftoverMs: 300 } } });
    expect(ended.code).toBe(137);
    expect(ended.end).toMatchObject({ cause: "timeout", signal: "SIGKILL", bytes: 3 });
    expect(processesWith(odd)).toEqual([]);
  });

  test("a stop from outside", async () => {
    const pod = preparePod({ ...bun, argv: shell("echo up; exec sleep 30") });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the CLI");
    running.process.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ code: 143, end: { cause: "stopped" } });
  });

  test.skipIf(process.platform !== "linux")("a stalled volume and a log nobody reads", async () => {
    const script = `const fs = require("node:fs"); const b = Buffer.alloc(${MIB}, "x"); for (let i = 0; i < 12; i++) for (let at = 0; at < b.length;) at += fs.writeSync(1, b, at)`;
    const pod = preparePod({
      ...bun,
      argv: node(`${script}; process.exitCode = 3`),
      log: "blocked",
      spec: { drainSec: 1, waits: { stallMs: 300 } },
    });
    makeFifo(pod.spec.files.output);
    const held = openSync(pod.spec.files.output, "r+");
    const ended = await pod.start().ended;
    closeSync(held);
    expect(ended.code).toBe(3);
    expect(ended.message).toMatchObject({ exitCode: 3, bytes: 12 * MIB });
    expect(ended.message.written).toBeLessThan(MIB);
    expect(processesWith(pod.folder)).toEqual([]);
  });

  test("a program that is not there", async () => {
    const ended = await runPod({ ...bun, argv: ["no-such-program"] });
    expect(ended.code).toBe(127);
    expect(ended.end?.cause).toBe("spawn-failed");
  });

  test("800 MB of output, nothing lost", async () => {
    const script = `const fs = require("node:fs"); const b = Buffer.alloc(${MIB}, "x"); for (let i = 0; i < 800; i++) for (let at = 0; at < b.length;) at += fs.writeSync(1, b, at)`;
    const pod = preparePod({ ...bun, argv: node(script), log: "ignore" });
    const ended = await pod.start().ended;
    expect(ended.end).toMatchObject({ bytes: 800 * MIB, written: 800 * MIB, error: null });
  });
});
