import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { volumeText } from "../../../generated/volume-text.ts";
import type { FromVolume, ToVolume } from "../protocol.ts";
import { type Scratch, scratch, until } from "../testing/scratch.ts";

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

/** Each message says how many timers the process has when it sends it. */
const COUNTED = `{ const send = process.send; process.send = (message, ...more) =>
  send.call(process, { ...message, timers: process.getActiveResourcesInfo().filter((each) => each === "Timeout").length }, ...more) }\n`;
const FLAGS = ["--max-semi-space-size=1", "--single-threaded", "--no-memory-reducer", "--input-type=commonjs"];
const ALIVE_EVERY_MS = 10;
/** Its signs of life, a look at the room on the volume, the next poll; and some that come and go. */
const MOST_TIMERS = 6;

test("however long it lives, the process of a volume has the same few timers", async () => {
  const child = spawn(process.execPath, [...FLAGS, "-e", COUNTED + volumeText, "--", volume.root, String(ALIVE_EVERY_MS)], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const seen: Array<FromVolume & { readonly timers: number }> = [];
  child.on("message", (message: FromVolume & { readonly timers: number }) => seen.push(message));
  const path = volume.path("a");
  writeFileSync(path, "one\n");
  const open: ToVolume = { type: "open", id: 1, path, offset: 0, expected: 0, maxBytes: 1e9, unreadable: false };
  child.send(open);
  const signs = () => seen.filter(({ type }) => type === "alive");
  await until(() => signs().length >= 100 || child.exitCode !== null).finally(() => child.kill("SIGKILL"));
  await exited;
  expect(seen.find(({ type }) => type === "bytes")).toMatchObject({ id: 1, bytes: Buffer.from("one\n") });
  expect(signs().length).toBeGreaterThanOrEqual(100);
  expect(Math.min(...signs().map(({ timers }) => timers))).toBeGreaterThan(0);
  expect(Math.max(...signs().map(({ timers }) => timers))).toBeLessThanOrEqual(MOST_TIMERS);
});
