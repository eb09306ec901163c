import { expect, test } from "vitest";
import { deferred } from "../deferred.ts";
import type { RunContext } from "../run-context.ts";
import { inTurn } from "./in-turn.ts";

const watch = {} as RunContext["watch"];
const context = (leaving = new AbortController().signal): RunContext =>
  ({ watch, leaving, request: { sameWork: { issue: "1" } } }) as unknown as RunContext;

test("a run that leaves while it waits does not let the next one in before its time", async () => {
  const creates = deferred<void>();
  const order: string[] = [];
  const first = inTurn(context(), async () => {
    await creates.promise;
    order.push("first");
    return { kind: "taken" };
  });
  const leaving = new AbortController();
  const second = inTurn(context(leaving.signal), async () => {
    order.push("second leaves");
    return { kind: "left" };
  });
  const third = inTurn(context(), async () => {
    order.push("third");
    return { kind: "taken" };
  });
  leaving.abort();
  await second;
  // Whatever the third could do by now, it has done.
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["second leaves"]);
  creates.resolve();
  await Promise.all([first, third]);
  expect(order).toEqual(["second leaves", "first", "third"]);
});
