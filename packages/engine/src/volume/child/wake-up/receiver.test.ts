import { randomBytes } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { type WakeUpAddress, wakeUpDatagram, wakeUpToken } from "@paperclip-k8s/runner/wake-up";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../testing/scratch.ts";
import { FollowedRuns, type WokenFile } from "./followed-runs.ts";
import { WakeUpReceiver } from "./receiver.ts";

// Real datagrams over loopback, as a pod or anybody else sends them.

const token = wakeUpToken(Buffer.alloc(32, 1));
const receivers: WakeUpReceiver[] = [];
const senders: Socket[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const receiver of receivers.splice(0)) receiver.close();
  for (const sender of senders.splice(0)) sender.close();
});

interface Woken extends WokenFile {
  readonly sizes: number[];
  usual: number;
}

function followed() {
  const polled: number[] = [];
  const runs = new FollowedRuns<Woken>({ pollAt: (file) => void polled.push(file.id), reschedule: () => {} });
  const file = (id: number, source: Parameters<typeof runs.follow>[0]): Woken =>
    runs.follow(source, () => {
      const sizes: number[] = [];
      const wake = (size: number, now: number): number => {
        sizes.push(size);
        return now;
      };
      const made: Woken = { id, sizes, usual: 0, wake, pollAsUsual: () => void made.usual++ };
      return made;
    });
  return { runs, file, polled };
}

async function listen(runs: FollowedRuns<Woken>, ports = [0], addresses = ["127.0.0.1"]) {
  const pauses: number[] = [];
  let taken = 0;
  const receiver = new WakeUpReceiver({
    receive: (datagram, now) => {
      taken++;
      return runs.receive(datagram, now);
    },
    runs: () => runs.size,
    closed: (_, ms) => {
      pauses.push(ms);
      runs.expectNone();
    },
  });
  receivers.push(receiver);
  return { at: await receiver.listen({ addresses, ports }), pauses, taken: () => taken };
}

function sendTo({ address, port }: WakeUpAddress): (bytes: Buffer) => Promise<void> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  senders.push(socket);
  return (bytes) => new Promise((resolve) => socket.send(bytes, port, address, () => resolve()));
}

test("wakes the file that is meant and no other, also when it comes twice; what is forged wakes none", async () => {
  const { runs, file, polled } = followed();
  const [output, meta, none] = [file(1, { token, kind: "output" }), file(2, { token, kind: "meta" }), file(3, undefined)];
  const { at, taken } = await listen(runs);
  const send = sendTo(at);
  const forged = [
    wakeUpDatagram(wakeUpToken(Buffer.alloc(32, 2)), "output", 7),
    wakeUpDatagram(randomBytes(16), "meta", 7),
    randomBytes(23),
    randomBytes(1000),
    Buffer.alloc(0),
    wakeUpDatagram(token, "output", 5).subarray(0, 22),
  ];
  for (const bytes of forged) await send(bytes);
  for (const bytes of [wakeUpDatagram(token, "output", 5), wakeUpDatagram(token, "output", 5), wakeUpDatagram(token, "meta", 6)])
    await send(bytes);
  await until(() => taken() === 9);
  expect([output.sizes, meta.sizes, none.sizes]).toEqual([[5, 5], [6], []]);
  expect(polled).toEqual([1, 1, 2]);
  runs.forget(1);
  await send(wakeUpDatagram(token, "output", 9));
  await until(() => taken() === 10);
  expect([output.sizes, runs.size]).toEqual([[5, 5], 1]);
  runs.forget(2);
  expect(runs.size).toBe(0);
});

test("two who follow the same file both hear of it", async () => {
  const { runs, file } = followed();
  const both = [file(1, { token, kind: "output" }), file(2, { token, kind: "output" })];
  runs.receive(wakeUpDatagram(token, "output", 5), 0);
  runs.forget(1);
  runs.receive(wakeUpDatagram(token, "output", 6), 0);
  expect(both.map(({ sizes }) => sizes)).toEqual([[5], [5, 6]]);
});

test("a flood closes the socket after some hundred, and it is open again at the same place later", async () => {
  const { runs, file } = followed();
  const output = file(1, { token, kind: "output" });
  const { at, pauses, taken } = await listen(runs);
  const send = sendTo(at);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  while (pauses.length === 0) {
    await Promise.all(Array.from({ length: 300 }, () => send(randomBytes(23))));
    // A send is done before anything can be received.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const before = taken();
  for (let each = 0; each < 50; each++) await send(randomBytes(23));
  expect(taken()).toBe(before);
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  // It takes a moment to listen again: sent until it does.
  while (output.sizes.length === 0) {
    await send(wakeUpDatagram(token, "output", 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(pauses).toEqual([1_000]);
});

test("takes the first address and port that it can have", async () => {
  const { runs } = followed();
  const first = await listen(runs);
  const next = await listen(runs, [first.at.port, 0]);
  expect(next.at.port).not.toBe(first.at.port);
  // 192.0.2.0/24 is nobody's.
  const other = await listen(runs, [0], ["192.0.2.1", "127.0.0.1"]);
  expect(other.at.address).toBe("127.0.0.1");
  await expect(listen(runs, [first.at.port])).rejects.toThrow("EADDRINUSE");
});
