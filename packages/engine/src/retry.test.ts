import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { unlessLeaving } from "./retry.ts";

const listeners = ({ signal }: AbortController) => getEventListeners(signal, "abort").length;

test("a caller that leaves is not kept waiting", async () => {
  const leaving = new AbortController();
  const waiting = unlessLeaving(leaving.signal, new Promise(() => {}));
  leaving.abort();
  expect(await waiting).toBeNull();
  expect(await unlessLeaving(leaving.signal, new Promise(() => {}))).toBeNull();
});

test("what was waited for leaves no listener behind: such a signal would stay in memory for good", async () => {
  const leaving = new AbortController();
  expect(await unlessLeaving(leaving.signal, Promise.resolve("done"))).toBe("done");
  await expect(unlessLeaving(leaving.signal, Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(listeners(leaving)).toBe(0);
});
