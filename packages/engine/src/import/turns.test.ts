import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { deferred } from "../deferred.ts";
import type { SharedState } from "./shared-state.ts";
import { inTurn } from "./turns.ts";

const { signal } = new AbortController();
const fresh = (): SharedState => ({ token: "t", folders: new Set(), running: 0, waiting: [] });

test("two go on at once, the next one waits, and one that is not wanted any more gives its place to the next", async () => {
  const state = fresh();
  const begun: string[] = [];
  const ends = ["a", "b", "d"].map((name) => ({ name, end: deferred<string>() }));
  const start = ({ name, end }: (typeof ends)[number]) =>
    inTurn(
      signal,
      () => {
        begun.push(name);
        return end.promise;
      },
      state,
    );
  const [a, b] = ends.slice(0, 2).map(start);
  const abort = new AbortController();
  const c = inTurn(abort.signal, async () => begun.push("c"), state);
  const d = start(ends[2]!);
  await setImmediate();
  expect(begun).toEqual(["a", "b"]);
  ends[0]!.end.resolve("");
  abort.abort();
  expect(await c).toBeNull();
  await a;
  await expect.poll(() => begun).toEqual(["a", "b", "d"]);
  for (const { end } of ends) end.resolve("");
  await Promise.all([b, d]);
  expect(state).toMatchObject({ running: 0, waiting: [] });
});

test("work that fails gives its turn back", async () => {
  const state = fresh();
  await expect(inTurn(signal, () => Promise.reject(new Error("no")), state)).rejects.toThrow("no");
  expect(state.running).toBe(0);
});
