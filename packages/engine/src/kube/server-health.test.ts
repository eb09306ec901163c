import { expect, test } from "vitest";
import { ServerHealth } from "./server-health.ts";
import { handClock } from "./testing/hand-clock.ts";

function healthOf(probe: () => Promise<unknown>) {
  const { clock, pass } = handClock();
  let probes = 0;
  const health = new ServerHealth(clock, () => {
    probes++;
    return probe();
  });
  const reported: (number | null)[] = [];
  const stop = health.listen((since) => reported.push(since));
  return { health, pass, reported, stop, probes: () => probes };
}

const never = () => new Promise(() => {});

test("a request without an answer for 10 s is reported with its time; the first sign of life takes it back", async () => {
  const { health, pass, reported } = healthOf(never);
  await pass(5000);
  health.sent();
  await pass(9999);
  expect(reported).toEqual([]);
  await pass(1);
  expect(reported).toEqual([5000]);
  health.heard();
  health.heard();
  expect(reported).toEqual([5000, null]);
});

test("a slow answer is no silence while others are heard; neither is a connection that was refused", async () => {
  const { health, pass, reported } = healthOf(never);
  health.sent();
  await pass(3000);
  health.heard();
  await pass(10_000);
  health.sent()();
  await pass(6000);
  expect(reported).toEqual([]);
});

test("who subscribes later is notified at once", async () => {
  const { health, pass } = healthOf(never);
  health.sent();
  await pass(10_000);
  const reported: (number | null)[] = [];
  health.listen((since) => reported.push(since));
  expect(reported).toEqual([0]);
});

test("a server that is quiet is asked something every 20 s, and not at all while it is heard or nobody listens", async () => {
  const { health, pass, stop, reported, probes } = healthOf(async () => health.heard());
  for (let second = 0; second < 60; second++) {
    await pass(1000);
    health.heard();
  }
  expect(probes()).toBe(0);
  await pass(100_000);
  expect(probes()).toBe(5);
  expect(reported).toEqual([]);
  stop();
  await pass(100_000);
  expect(probes()).toBe(5);
});
