import { appendFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FromVolume } from "../protocol.ts";
import { type Scratch, scratch } from "../testing/scratch.ts";
import { FollowedFile } from "./followed-file.ts";
import { openBelow } from "./open-below.ts";

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

function follow(maxBytes = 1000): FollowedFile {
  const send = (message: FromVolume): void => {
    if (message.type === "bytes") text += message.bytes;
  };
  const file = { type: "open", id: 1, path, offset: 0, expected: 0, maxBytes, unreadable: false } as const;
  return new FollowedFile(file, { ready: () => true, send }, { cache: { showsGrowth: false }, open: openBelow(dirname(path)) }, 0);
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
