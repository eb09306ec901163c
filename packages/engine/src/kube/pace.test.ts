import { expect, test } from "vitest";
import { Pace, type Priority } from "./pace.ts";
import { handClock } from "./testing/hand-clock.ts";

const { signal: never } = new AbortController();

/** Asks with these priorities, all at once; the list grows as they come. */
async function ask(pace: Pace, priorities: readonly Priority[], signal = never): Promise<Priority[]> {
  const came: Priority[] = [];
  for (const priority of priorities) void pace.wait(priority, [signal]).then(() => came.push(priority));
  await Promise.resolve();
  return came;
}
const usual = (count: number) => Array<Priority>(count).fill("usual");

test("a burst goes at once, the rest at the rate", async () => {
  const { clock, pass } = handClock();
  const came = await ask(new Pace({ perSecond: 200, burst: 20, clock }), usual(80));
  expect(came).toHaveLength(20);
  for (let ms = 10; ms <= 300; ms += 10) {
    await pass(10);
    expect(came).toHaveLength(20 + ms / 5);
  }
});

test("who is waited for comes first, whoever came before; nobody's errand comes last", async () => {
  const { clock, pass } = handClock();
  const pace = new Pace({ perSecond: 200, burst: 1, clock });
  await ask(pace, usual(1));
  const came = await ask(pace, ["last", "usual", "last", "usual", "first"]);
  await pass(25);
  expect(came).toEqual(["first", "usual", "usual", "last", "last"]);
});

test("who gives up does not wait, and takes nobody's turn", async () => {
  const { clock, pass } = handClock();
  const pace = new Pace({ perSecond: 20, burst: 1, clock });
  await ask(pace, usual(1));
  const cancel = new AbortController();
  const given = await ask(pace, usual(50), cancel.signal);
  const kept = await ask(pace, usual(1));
  cancel.abort();
  await Promise.resolve();
  expect([given.length, kept.length]).toEqual([50, 0]);
  expect(await ask(pace, usual(1), cancel.signal)).toHaveLength(1);
  await pass(50);
  expect(kept).toHaveLength(1);
});

test("a pause is worth no more than the burst", async () => {
  const { clock, pass } = handClock();
  const pace = new Pace({ perSecond: 1000, burst: 5, clock });
  await pass(100);
  expect(await ask(pace, usual(10))).toHaveLength(5);
});
