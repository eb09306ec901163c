import { createSocket } from "node:dgram";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { type WakeUpAddress, wakeUpDatagram, wakeUpToken } from "@paperclip-k8s/runner/wake-up";
import { afterEach, beforeEach, expect, test } from "vitest";
import { collector, type Scratch, scratch, until } from "./testing/scratch.ts";
import { type Volume, volumePid } from "./volume.ts";

// The volume's own process, with real datagrams.

const token = wakeUpToken(Buffer.alloc(32, 1));
const anywhere = { addresses: ["127.0.0.1"], ports: [0] };

let volume: Scratch;
beforeEach(() => {
  volume = scratch();
});
afterEach(() => volume.end());

async function sendTo({ address, port }: WakeUpAddress, datagrams: readonly Buffer[]): Promise<void> {
  const socket = createSocket("udp4");
  await Promise.all(datagrams.map((bytes) => new Promise((resolve) => socket.send(bytes, port, address, resolve))));
  socket.close();
}

/** A run does not wait long for the answer; a process that has just been started may take longer, and whoever asks next gets it. */
async function listening(users: Volume): Promise<WakeUpAddress> {
  for (;;) {
    const at = await users.listen(anywhere);
    if (at !== null) return at;
  }
}

/** The ports of 127.0.0.1 that a datagram socket of this machine has. */
function boundPorts(): number[] {
  const rows = readFileSync("/proc/net/udp", "utf8").split("\n").slice(1);
  return rows.flatMap((row) => {
    const [, port] = /^\s*\d+: 0100007F:([0-9A-F]{4})/.exec(row) ?? [];
    return port === undefined ? [] : [Number.parseInt(port, 16)];
  });
}

test("whatever wake-ups say, the file is read as it is, once", async () => {
  const users = volume.open();
  const path = volume.path("a");
  writeFileSync(path, "");
  const got = collector();
  users.tail(path, { ...got, wakeUp: { token, kind: "output" } });
  const at = await listening(users);
  let text = "";
  for (let line = 0; line < 40; line++) {
    // Too late, too early, of a size that is not there or was, several times, or not at all.
    const sizes = [[text.length], [text.length + 3, 2 ** 47], [0, 0, 0], [text.length + 1_000], []][line % 5] ?? [];
    const before = line % 2 === 0;
    const wakeUps = sizes.flatMap((size) => [wakeUpDatagram(token, "output", size), wakeUpDatagram(token, "meta", size)]);
    if (before) await sendTo(at, wakeUps);
    appendFileSync(path, `${line}\n`);
    text += `${line}\n`;
    if (!before) await sendTo(at, wakeUps);
    if (line % 3 === 0) await until(() => got.text() === text);
  }
  await until(() => got.text() === text);
});

test("all users of a volume have one socket, and a process that replaces a dead one has the same port", async () => {
  const [one, two] = [volume.open(), volume.open()];
  const at = await listening(one);
  expect(at.address).toBe("127.0.0.1");
  expect(await listening(two)).toEqual(at);
  expect(boundPorts()).toContain(at.port);
  const before = volume.pid();
  process.kill(before, "SIGKILL");
  await until(() => volumePid(volume.root) !== null && volumePid(volume.root) !== before);
  await until(() => boundPorts().includes(at.port));
  expect(await listening(two)).toEqual(at);
  volume.pid();
});

test("an address that cannot be had is none", async () => {
  const users = volume.open();
  // 192.0.2.0/24 is nobody's.
  const nobodys = { addresses: ["192.0.2.1"], ports: [0] };
  expect(await users.listen(nobodys)).toBeNull();
  await expect(users.run("listen", nobodys, 600_000)).rejects.toThrow("EADDRNOTAVAIL");
});
