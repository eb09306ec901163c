import { beforeEach, expect, test } from "vitest";
import { Announcements } from "./announcements.ts";
import { RunTrust } from "./run-trust.ts";

let counted: string[];
let file: Announcements;
beforeEach(() => {
  counted = [];
  const trust = new RunTrust();
  trust.announced = () => void counted.push("announced");
  trust.missed = () => void counted.push("missed");
  trust.interval = () => 1000;
  file = new Announcements(trust);
});

test("a growth is announced by a wake-up before it, or one up to 50 ms after it", () => {
  file.announce(10, 0, 0);
  file.grew(10, 1);
  expect(counted).toEqual(["announced"]);
  file.grew(20, 1_000);
  file.announce(20, 20, 1_050);
  expect(counted).toEqual(["announced", "announced"]);
});

test("without one it was missed, and until that is known the file is polled as usual", () => {
  file.grew(10, 0);
  expect([file.interval(20, 10, 0), file.interval(20, 10, 50)]).toEqual([20, 20]);
  expect(counted).toEqual([]);
  expect(file.interval(20, 10, 51)).toBe(1000);
  file.announce(10, 10, 60);
  expect(counted).toEqual(["missed"]);
});

test("an old size does not tell of a later growth, and one that comes twice counts once", () => {
  file.announce(10, 0, 0);
  file.grew(10, 0);
  file.announce(10, 10, 1);
  file.grew(20, 2);
  file.announce(10, 20, 3);
  file.interval(20, 20, 100);
  expect(counted).toEqual(["announced", "missed"]);
});

test("a stream that grows before each wake-up arrives is announced", () => {
  for (let now = 0; now < 1_000; now += 5) {
    file.grew(now * 100 + 200, now);
    file.announce(now * 100 + 100, now * 100 + 200, now + 4);
    file.interval(20, now * 100 + 200, now + 4);
  }
  expect(counted).not.toContain("missed");
});

test("what cannot be read yet is looked for, 200 ms long; who tells of what is not there is not looked for at once again", () => {
  file.announce(10, 0, 0);
  expect([file.wantsProbe(0, 0), file.wantsProbe(0, 10), file.wantsProbe(0, 50)]).toEqual([true, false, true]);
  expect([file.interval(20, 0, 10), file.interval(20, 0, 199), file.interval(20, 0, 200)]).toEqual([10, 10, 1000]);
  file.announce(11, 0, 300);
  expect([file.interval(20, 0, 310), file.wantsProbe(0, 310)]).toEqual([1000, false]);
  file.announce(12, 0, 1_200);
  expect(file.interval(20, 0, 1_210)).toBe(10);
  expect(file.interval(20, 12, 1_220)).toBe(1000);
});
