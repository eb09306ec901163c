import { afterAll, describe, expect, test } from "vitest";
import { canHaveNamespace, cleanUp, node, oddSeconds, processesWith, runPod } from "./testing/runner-fixture.ts";

// In a pod the runner is the first process of its namespace: nobody in there can kill it, and its end is the end of all of them.

afterAll(cleanUp);

const detached = (program: string, ...args: string[]): string =>
  `require("node:child_process").spawn(${JSON.stringify(program)}, ${JSON.stringify(args)}, { detached: true, stdio: "ignore" }).unref();`;
const notes = (ended: { readonly meta: readonly { readonly type: string; readonly text?: string }[] }) =>
  ended.meta.flatMap(({ type, text }) => (type === "note" ? [text] : []));

describe.runIf(canHaveNamespace()).concurrent("as the first process", () => {
  test("it cannot be killed or stopped by the CLI", async () => {
    const script = `for (const signal of ["SIGKILL", "SIGSTOP", "SIGHUP"]) process.kill(1, signal); console.log("still here")`;
    const ended = await runPod({ argv: node(script), first: true });
    expect(ended.stdout.toString()).toBe("still here\n");
    expect(ended.end).toMatchObject({ exitCode: 0, cause: "exit" });
  });

  test("processes that left the CLI's session are ended before the end is written down", async () => {
    const odd = oddSeconds(640);
    const ended = await runPod({ argv: node(`${detached("sleep", odd)} console.log("x")`), first: true });
    expect(ended.end).toMatchObject({ exitCode: 0, leftoversEnded: true });
    expect(notes(ended)).toEqual(["ended 1 process that the CLI had left running"]);
    expect(processesWith(odd)).toEqual([]);
  });

  test("also those that ignore SIGTERM", async () => {
    const odd = oddSeconds(640);
    const stubborn = detached("sh", "-c", `trap '' TERM; sleep ${odd}; sleep ${odd}`);
    const ended = await runPod({
      argv: node(`${stubborn} setTimeout(() => {}, 300)`),
      first: true,
      spec: { waits: { leftoverKillMs: 200 } },
    });
    expect(ended.end).toMatchObject({ exitCode: 0, leftoversEnded: true });
    expect(processesWith(odd)).toEqual([]);
  });

  test("children that ended without a parent are no leftovers", async () => {
    const orphan = detached("sh", "-c", "true & exit 0");
    const ended = await runPod({ argv: node(`${orphan.repeat(20)} setTimeout(() => {}, 500)`), first: true });
    expect(ended.end).toMatchObject({ exitCode: 0, leftoversEnded: false });
    expect(notes(ended)).toEqual([]);
  });
});

test("elsewhere, other processes of the machine are left alone", async () => {
  const odd = oddSeconds(640);
  const ended = await runPod({ argv: node(`${detached("sleep", odd)} console.log("x")`) });
  expect(ended.end).toMatchObject({ exitCode: 0, leftoversEnded: false });
  const others = processesWith(odd);
  expect(others).toHaveLength(1);
  for (const pid of others) process.kill(pid, "SIGKILL");
});
