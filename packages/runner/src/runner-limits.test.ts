import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { cleanUp, makeFifo, node, oddSeconds, preparePod, processesWith, runPod, shell, sleep, waitFor } from "./testing/runner-fixture.ts";

afterAll(cleanUp);

const stubborn = "trap 'echo no' TERM; echo up; while :; do sleep 600; done";

describe.concurrent("limits", () => {
  test("the time limit ends the CLI", async () => {
    const ended = await runPod({ argv: shell("echo up; exec sleep 600"), spec: { timeoutSec: 0.7 } });
    expect(ended.code).toBe(143);
    expect(ended.end).toMatchObject({ exitCode: null, signal: "SIGTERM", cause: "timeout", bytes: 3, written: 3 });
  });

  test("a CLI that ignores SIGTERM is killed after the grace", async () => {
    const ended = await runPod({ argv: shell(stubborn), spec: { timeoutSec: 0.7, graceSec: 0.5 } });
    expect(ended.code).toBe(137);
    expect(ended.end).toMatchObject({ signal: "SIGKILL", cause: "timeout" });
    expect(ended.stdout.toString()).toBe("up\nno\n");
  });

  test("a CLI that handles SIGTERM keeps its exit code, and the cause is still the limit", async () => {
    const ended = await runPod({ argv: shell("trap 'exit 5' TERM; sleep 600; exit 6"), spec: { timeoutSec: 0.7 } });
    expect(ended.code).toBe(5);
    expect(ended.end).toMatchObject({ exitCode: 5, cause: "timeout" });
  });

  test.for(["SIGTERM", "SIGINT"] as const)("%s from outside ends the CLI", async (signal) => {
    const pod = preparePod({ argv: shell("echo up; exec sleep 600") });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the CLI");
    running.process.kill(signal);
    const ended = await running.ended;
    expect(ended.code).toBe(143);
    expect(ended.end).toMatchObject({ signal: "SIGTERM", cause: "stopped" });
  });

  test("a stop before the CLI is started keeps it from starting", async () => {
    const pod = preparePod({ argv: shell("echo ran > ran"), spec: { waits: { openMs: 600_000 } } });
    makeFifo(pod.spec.files.output);
    const running = pod.start();
    await waitFor(() => existsSync(pod.spec.files.lock), "the lock file");
    running.process.kill("SIGTERM");
    // Only now can the output be opened.
    await sleep(300);
    const held = openSync(pod.spec.files.output, "r+");
    const ended = await running.ended;
    closeSync(held);
    expect(ended.code).toBe(143);
    expect(ended.message).toMatchObject({ cause: "stopped", exitCode: null, error: "stopped before the CLI was started" });
    expect(existsSync(`${pod.folder}/ran`)).toBe(false);
  });

  test("a stop overrules the longer grace of the time limit", async () => {
    const pod = preparePod({ argv: shell(stubborn), spec: { timeoutSec: 0.7, graceSec: 600, stopGraceSec: 0.3 } });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output, "utf8").includes("no"), "the first SIGTERM");
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.code).toBe(137);
    expect(ended.end?.cause).toBe("timeout");
  });

  test("a CLI that is over before its limit is not timed out", async () => {
    const ended = await runPod({ argv: shell("sleep 0.2; exit 0"), spec: { timeoutSec: 30 * 24 * 3600 } });
    expect(ended.end).toMatchObject({ exitCode: 0, cause: "exit" });
  });

  test("a CLI that hangs after its final line is ended", async () => {
    const argv = shell("echo result-1; echo more; exec sleep 600");
    const ended = await runPod({ argv, spec: { finalLine: { pattern: "^result-", endAfterSec: 0.3 } } });
    expect(ended.code).toBe(143);
    expect(ended.end).toMatchObject({ cause: "final-line", signal: "SIGTERM", lines: 2 });
    expect(ended.message.finalLine).toBe("result-1");
  });

  test("a CLI that goes back to work after its final line is left alone", async () => {
    const spec = { finalLine: { pattern: "^result-", endAfterSec: 0.3, takenBackBy: "^again" } };
    const ended = await runPod({ argv: shell("printf 'result-1\\nagain\\n'; sleep 0.8; echo result-2; exit 0"), spec });
    expect(ended.end).toMatchObject({ exitCode: 0, cause: "exit", lines: 3 });
    expect(ended.message.finalLine).toBe("result-2");
  });

  test("a CLI that ends by itself after its final line is left alone", async () => {
    const spec = { finalLine: { pattern: "^result-", endAfterSec: 60 } };
    const ended = await runPod({ argv: shell("echo result-1; sleep 0.2; echo result-2; exit 3"), spec });
    expect(ended.end).toMatchObject({ exitCode: 3, cause: "exit" });
    expect(ended.message.finalLine).toBe("result-2");
  });
});

describe.concurrent("what the CLI leaves behind", () => {
  test("holding its stdout: read, then ended", async () => {
    const odd = oddSeconds(631);
    const argv = shell(`(trap '' TERM; echo child; sleep ${odd}) & echo parent; exit 3`);
    const ended = await runPod({ argv, spec: { waits: { leftoverMs: 300, leftoverKillMs: 200 } } });
    expect(ended.code).toBe(3);
    expect(ended.end).toMatchObject({ exitCode: 3, cause: "exit", leftoversEnded: true, bytes: 13, written: 13 });
    expect(processesWith(odd)).toEqual([]);
  });

  test("not holding its stdout: ended at once", async () => {
    const odd = oddSeconds(631);
    const ended = await runPod({
      argv: shell(`sleep ${odd} >/dev/null 2>&1 & echo parent; exit 0`),
      // Not waited for: the test would hang.
      spec: { drainSec: 3_600, waits: { leftoverMs: 600_000 } },
    });
    expect(ended.code).toBe(0);
    expect(ended.end).toMatchObject({ leftoversEnded: true, bytes: 7 });
    expect(processesWith(odd)).toEqual([]);
  });

  test("ending in time: waited for, its output kept", async () => {
    const ended = await runPod({
      argv: shell("(sleep 0.4; echo late) & exit 0"),
      spec: { drainSec: 120, waits: { leftoverMs: 30_000 } },
    });
    expect(ended.stdout.toString()).toBe("late\n");
    expect(ended.end).toMatchObject({ leftoversEnded: false, bytes: 5, written: 5 });
  });

  test("writing after the CLI's final line and exit: not the CLI's output, and the log says so", async () => {
    const odd = oddSeconds(631);
    const finalLine = { pattern: "^result-", endAfterSec: null };
    // The signal may come twice, to the process and to its group.
    const child = `(trap 'trap "" TERM; echo result-of-child; exit' TERM; sleep ${odd} & touch ready; wait) &`;
    const argv = shell(`${child} while [ ! -e ready ]; do sleep 0.01; done; echo result-1; exit 3`);
    const ended = await runPod({ argv, spec: { finalLine, waits: { leftoverMs: 500, leftoverKillMs: 30_000 } } });
    expect(ended.code).toBe(3);
    expect(ended.end).toMatchObject({ exitCode: 3, cause: "exit", leftoversEnded: true, bytes: 9, written: 9, lines: 1 });
    expect(ended.message.finalLine).toBe("result-1");
    expect(ended.meta.flatMap((record) => (record.type === "note" ? [record.text] : []))).toEqual([
      "16 bytes that came after the CLI's end from a process it had left running are not part of its output: result-of-child",
      "ended 2 processes that the CLI had left running",
    ]);
    expect(processesWith(odd)).toEqual([]);
  });

  test("at the time limit: ended with it", async () => {
    const odd = oddSeconds(631);
    const argv = shell(`(trap '' TERM; sleep ${odd}) & sleep ${odd}`);
    const ended = await runPod({ argv, spec: { timeoutSec: 1, graceSec: 0.5, waits: { leftoverMs: 200, leftoverKillMs: 200 } } });
    expect(ended.end).toMatchObject({ cause: "timeout", leftoversEnded: true });
    expect(processesWith(odd)).toEqual([]);
  });

  test("out of reach in a session of its own, holding stdout: does not keep the runner", async () => {
    const odd = oddSeconds(620);
    const script = `const c = require("node:child_process").spawn("/bin/sleep", ["${odd}"], { detached: true, stdio: ["ignore", 1, 2] }); c.unref(); console.log("x")`;
    const ended = await runPod({ argv: node(script), spec: { drainSec: 2, waits: { leftoverMs: 300 } }, log: "ignore" });
    for (const pid of processesWith(odd)) process.kill(pid, "SIGKILL");
    expect(ended.code).toBe(0);
    expect(ended.end).toMatchObject({ bytes: 2, written: 2 });
  });
});
