import { appendFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FromVolume } from "../protocol.ts";
import { type Scratch, scratch } from "../testing/scratch.ts";
import { FollowedFile } from "./followed-file.ts";
import { openBelow } from "./open-below.ts";
import { Announcements } from "./wake-up/announcements.ts";
import { RunTrust } from "./wake-up/run-trust.ts";

// One file, and each poll gets the time from the test.

let folder: Scratch;
let path: string;
let text: string;
beforeEach(() => {
  folder = scratch();
  path = folder.path("a");
  text = "";
});
afterEach(() => folder.end());

function follow(maxBytes = 1000, announcements: Announcements | null = null): FollowedFile {
  const send = (message: FromVolume): void => {
    if (message.type === "bytes") text += message.bytes;
  };
  const file = { type: "open", id: 1, path, offset: 0, expected: 0, maxBytes, unreadable: false } as const;
  const tools = { cache: { showsGrowth: false }, open: openBelow(dirname(path)) };
  return new FollowedFile(file, { ready: () => true, send }, tools, 0, announcements);
}

describe("NULs in a file", () => {
  it("are data after two seconds of reads", () => {
    writeFileSync(path, "a\0b\n");
    const file = follow();
    const seen = [0, 500, 1_000, 1_500, 1_990, 2_000].map((now) => {
      file.poll(now);
      return text.length;
    });
    expect(seen).toEqual([1, 1, 1, 1, 1, 4]);
  });

  it("are data at once when the file is known to be complete", () => {
    writeFileSync(path, "a\0b\n");
    const file = follow();
    file.poll(0);
    file.expect(4, 10);
    file.poll(10);
    expect(text).toBe("a\0b\n");
  });
});

it("a file is read up to the limit, however long it is", () => {
  writeFileSync(path, "abcdefgh");
  truncateSync(path, 2 ** 40);
  const file = follow(5);
  for (const now of [0, 100, 3_000]) file.poll(now);
  expect(text).toBe("abcde");
});

describe("a wake-up", () => {
  it("has a file polled only for what was not read yet, and at most every 5 ms", () => {
    writeFileSync(path, "abc");
    const file = follow(1000, new Announcements(new RunTrust()));
    file.poll(0);
    expect([file.wake(3, 2), file.wake(4, 2), file.wake(4, 7)]).toEqual([null, 5, 7]);
    file.due = 4;
    expect(file.wake(4, 2)).toBeNull();
  });

  it("does not have anything read beyond the limit", () => {
    writeFileSync(path, "abcdef");
    const file = follow(5, new Announcements(new RunTrust()));
    file.poll(0);
    expect([file.wake(2 ** 40, 100), text]).toEqual([null, "abcde"]);
  });

  it("makes polls of a run seldom when each growth was announced, and usual again when one was not", () => {
    writeFileSync(path, "");
    const file = follow(1000, new Announcements(new RunTrust()));
    file.poll(0);
    const waits = Array.from({ length: 8 }, (_, index) => {
      appendFileSync(path, "x");
      const now = 100 * (index + 1);
      file.wake(index + 1, now);
      file.poll(now);
      return file.due - now;
    });
    expect(waits).toEqual([20, 20, 20, 20, 20, 80, 80, 100]);
    appendFileSync(path, "x");
    file.poll(1_000);
    file.poll(1_060);
    expect(file.due).toBe(1_080);
  });

  it("is followed by more polls where the file does not show it yet", () => {
    writeFileSync(path, "");
    const file = follow(1000, new Announcements(new RunTrust()));
    file.poll(20_000);
    file.wake(1, 20_100);
    file.poll(20_100);
    expect(file.due).toBe(20_110);
    appendFileSync(path, "x");
    file.poll(20_110);
    expect(text).toBe("x");
  });
});

describe("the size probe", () => {
  /** Whether a poll at this time leaves its mark on the file. */
  async function looks(file: FollowedFile, now: number): Promise<boolean> {
    const before = statSync(path).ctimeMs;
    // A file system's clock may move in steps of some milliseconds.
    await sleep(20);
    file.poll(now);
    return statSync(path).ctimeMs > before;
  }

  it("comes often until a plain read has shown growth, then seldom", async () => {
    writeFileSync(path, "");
    const file = follow();
    const unproven = [0, 90, 100, 190, 200].map((now) => () => looks(file, now));
    const seen: boolean[] = [];
    for (const look of unproven) seen.push(await look());
    expect(seen).toEqual([false, false, true, false, true]);
    appendFileSync(path, "x");
    file.poll(220);
    expect(text).toBe("x");
    expect([await looks(file, 320), await looks(file, 1_210), await looks(file, 1_220)]).toEqual([false, false, true]);
  });
});
