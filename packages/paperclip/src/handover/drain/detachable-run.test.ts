import { afterEach, expect, test, vi } from "vitest";
import type { ExecutionContext, ExecutionResult } from "../../host/types.ts";
import { hostContext } from "../../testing/host-context.ts";
import { canDetach, runDetachable } from "./detachable-run.ts";
import { RunRegistry } from "./run-registry.ts";

const done: ExecutionResult = { exitCode: 0, signal: null, timedOut: false };
const context = (change: Partial<ExecutionContext> = {}) => hostContext({ runId: "r1", context: { taskId: "t1" }, change }).ctx;
afterEach(() => void vi.useRealTimers());

test("a host goes on by itself only if it knows how, and not a third time", () => {
  const tried = (scheduledRetryAttempt: number) => context({ context: { taskId: "t1", scheduledRetryAttempt } });
  expect(canDetach(context())).toBe(true);
  expect(canDetach(tried(1))).toBe(true);
  expect(canDetach(tried(2))).toBe(false);
  expect(canDetach(context({ onCancellationReady: undefined }))).toBe(false);
});

test("a run without a task stays: its retry could not take its Job over", () => {
  expect(canDetach(context({ context: {} }))).toBe(false);
  expect(canDetach(context({ context: { issueId: "i1" } }))).toBe(true);
});

test("a run is here while it runs, also when it fails", async () => {
  const registry = new RunRegistry();
  const seen = await runDetachable(registry, context(), {}, async ({ detach, mayStart }) => {
    await mayStart(new AbortController().signal, () => {});
    return { ...done, summary: `${registry.runs} ${detach.aborted}` };
  });
  expect(seen.summary).toBe("r1 false");
  await expect(runDetachable(registry, context(), {}, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(registry.runs).toEqual([]);
});

test("during a drain a run is refused as one that was never started", async () => {
  const registry = new RunRegistry();
  await registry.drain("upgrade", 10);
  const never = () => Promise.reject(new Error("begun"));
  for (const each of [context(), context({ context: {} })])
    expect(await runDetachable(registry, each, {}, never)).toMatchObject({
      errorCode: "k8s_detached",
      errorFamily: "transient_upstream",
      summary: expect.stringContaining("nothing has to be done"),
      executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
    });
});

test("on a host that starts interrupted runs again it waits, and begins if the server stays", async () => {
  vi.useFakeTimers();
  const registry = new RunRegistry();
  await registry.drain("upgrade", 10);
  const cancel = new AbortController();
  const said: string[] = [];
  const begun: string[] = [];
  const run = (name: string, cancelled: AbortSignal) =>
    runDetachable(registry, context({ onCancellationReady: undefined }), {}, async ({ mayStart }) => {
      await mayStart(cancelled, (text) => said.push(text));
      begun.push(name);
      return done;
    });
  const [stays, leaves] = [run("stays", new AbortController().signal), run("leaves", cancel.signal)];
  await vi.advanceTimersByTimeAsync(60_000);
  expect([begun, said.length]).toEqual([[], 2]);
  // A cancel is heard meanwhile.
  cancel.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([begun, await leaves]).toEqual([["leaves"], done]);
  registry.undoDrain();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await stays).toBe(done);
});

test("a drain that begins while a run is still being prepared reaches it, so that it makes no Job", async () => {
  vi.useFakeTimers();
  const registry = new RunRegistry();
  const prepared = Promise.withResolvers<void>();
  const result = runDetachable(registry, context(), {}, async ({ detach, mayStart }) => {
    await prepared.promise;
    await mayStart(new AbortController().signal, () => {});
    return { ...done, summary: detach.aborted ? "detached" : "started" };
  });
  const drained = registry.drain("upgrade", 60_000);
  prepared.resolve();
  expect((await result).summary).toBe("detached");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await drained).toEqual({ detached: ["r1"], staying: [] });
});
