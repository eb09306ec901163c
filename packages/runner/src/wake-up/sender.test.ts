import { createSocket, type Socket } from "node:dgram";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cleanUp, preparePod, shell, waitFor } from "../testing/runner-fixture.ts";
import { readWakeUp, WAKE_UP_FILE, wakeUpId, wakeUpToken } from "./datagram.ts";
import { WakeUpSender } from "./sender.ts";

const key = Buffer.alloc(32, 3);
const token = wakeUpToken(key);

let folder: string;
let got: { readonly id: string; readonly size: number }[];
let reader: Socket;
let address: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "wake-up-"));
  ({ reader, got, address } = await listen());
});
afterEach(() => {
  reader.close();
  cleanUp();
  rmSync(folder, { recursive: true });
});

async function listen(at = "127.0.0.1") {
  const reader = createSocket(at.includes(":") ? "udp6" : "udp4");
  const got: { readonly id: string; readonly size: number }[] = [];
  reader.on("message", (datagram) => got.push(readWakeUp(datagram) ?? { id: "none", size: -1 }));
  await new Promise<void>((resolve) => reader.bind(0, at, resolve));
  return { reader, got, address: JSON.stringify({ address: at, port: reader.address().port }) };
}

function sender(text: string): WakeUpSender {
  const addressFile = join(folder, WAKE_UP_FILE);
  writeFileSync(addressFile, text);
  return new WakeUpSender({ token: token.toString("base64url"), addressFile });
}

const sizes = (kind: "output" | "meta") => got.filter(({ id }) => id === wakeUpId(token, kind)).map(({ size }) => size);

test("a burst is announced by few wake-ups, the last of which tells all of it", async () => {
  const wakeUps = sender(address);
  // What is written before there is a socket is announced when there is one.
  wakeUps.written("meta", 1);
  await waitFor(() => sizes("meta").length > 0, "the first wake-up");
  for (let size = 1; size <= 1000; size++) wakeUps.written("output", size);
  await waitFor(() => sizes("output").at(-1) === 1000, "the last wake-up of the burst");
  expect(sizes("output").length).toBeLessThan(500);
  expect(sizes("meta")).toEqual([1]);
});

test("over IPv6 too", async () => {
  const six = await listen("::1").catch(() => null);
  if (six === null) return;
  sender(six.address).written("output", 5);
  await waitFor(() => six.got.some(({ size }) => size === 5), "a wake-up over IPv6");
  six.reader.close();
});

test.each(["null", "{}", '{"address":"not.an.address","port":1}', '{"address":"127.0.0.1","port":1}'])(
  "%s costs nothing but the wake-ups",
  async (text) => {
    const wakeUps = sender(text);
    for (let size = 1; size < 20; size++) {
      wakeUps.written("output", size);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    wakeUps.finish();
    expect(got).toEqual([]);
  },
);

test("the runner tells of each file that it has written, up to its whole length", async () => {
  const pod = preparePod({
    argv: shell("echo one; while [ ! -e go-on ]; do sleep 0.05; done; echo two"),
    spec: { key: key.toString("base64url") },
    files: { [WAKE_UP_FILE]: address },
  });
  const running = pod.start();
  await waitFor(() => sizes("output").includes(4), "the wake-up of the first line");
  writeFileSync(join(pod.folder, "go-on"), "");
  const { code, end } = await running.ended;
  expect(code).toBe(0);
  await waitFor(() => sizes("output").at(-1) === end?.written, "the last wake-up of the output");
  const { size } = await import("node:fs/promises").then(({ stat }) => stat(pod.spec.files.meta));
  await waitFor(() => sizes("meta").at(-1) === size, "the wake-up of the end record");
  expect(got.filter(({ id }) => id === "none")).toEqual([]);
});

test("a run whose records are not signed sends none", async () => {
  await preparePod({ argv: shell("echo one"), files: { [WAKE_UP_FILE]: address } }).start().ended;
  expect(got).toEqual([]);
});
