import { createSocket, type Socket } from "node:dgram";
import type { EngineOptions, RunRequest } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { keyed, startRun } from "./run.ts";

// The pod tells the server that there is something to read. What becomes of the output when it cannot is the same, only later.

let bed: Bed;
const relays: Socket[] = [];
beforeAll(async () => {
  bed = await startBed();
});
afterEach(async () => {
  await calm(bed);
  for (const relay of relays.splice(0)) relay.close();
});
afterAll(() => bed.stop());

interface Relay {
  readonly engine: EngineOptions;
  /** How many wake-ups came from pods. */
  readonly came: () => number;
}

/** Between pods and the server: passes on those wake-ups for which `passes` says so, each `copies` times. */
async function relay(passes: (nth: number) => boolean, copies = 1): Promise<Relay> {
  const socket = createSocket("udp4");
  relays.push(socket);
  await new Promise<void>((resolve) => socket.bind(0, bed.hostAddress, resolve));
  let came = 0;
  let server = { address: "127.0.0.1", port: 9 };
  socket.on("message", (datagram) => {
    came++;
    if (passes(came)) for (let copy = 0; copy < copies; copy++) socket.send(datagram, server.port, server.address);
  });
  const wakeUpAddress: EngineOptions["wakeUpAddress"] = (own) => {
    server = own;
    return { address: bed.hostAddress, port: socket.address().port };
  };
  return { engine: { wakeUpAddress }, came: () => came };
}

const LINES = 30;
const WRITING = `let n = 0; const t = setInterval(() => { console.log("line " + ++n); if (n === ${LINES}) clearInterval(t); }, 100)`;
const WRITTEN = Array.from({ length: LINES }, (_, index) => `line ${index + 1}\n`).join("");

async function runsWhole(engine: EngineOptions, change: (request: RunRequest) => RunRequest = (same) => same): Promise<void> {
  const { outcome, output } = await startRun(bed, { script: WRITING, engine, change }).done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe(WRITTEN);
}

test("a run sends wake-ups, and with `off` none; both have all of their output", async () => {
  const on = await relay(() => true);
  await runsWhole(on.engine);
  // One for each file at least; on a busy machine one may tell of several lines.
  expect(on.came()).toBeGreaterThan(1);
  const off = await relay(() => true);
  await runsWhole(off.engine, (request) => ({ ...request, wakeUps: "off" }));
  expect(off.came()).toBe(0);
});

test.each([
  { what: "every second one lost", passes: (nth: number) => nth % 2 === 0, copies: 1 },
  { what: "all lost", passes: () => false, copies: 1 },
  { what: "each three times", passes: () => true, copies: 3 },
])("the output is the same with $what", async ({ passes, copies }) => {
  const { engine, came } = await relay(passes, copies);
  await runsWhole(engine);
  expect(came()).toBeGreaterThan(0);
});

test("a server that adopts the Job gets its wake-ups", async () => {
  const [first, second] = [await relay(() => true), await relay(() => true)];
  const script = `setInterval(() => console.log("on"), 100)`;
  const adopting = { script, onLockConflict: async () => ({ kind: "adopt" }) as const };
  const before = startRun(bed, keyed("woken", { ...adopting, engine: first.engine }));
  await before.saw("on\n");
  await expect.poll(first.came).toBeGreaterThan(0);
  const after = startRun(bed, keyed("woken", { ...adopting, engine: second.engine }));
  await after.saw("on\n");
  // A kubelet shows a changed Secret to its pod a minute or more later.
  await expect.poll(second.came, { timeout: 200_000 }).toBeGreaterThan(0);
  after.cancel();
  await after.done;
}, 400_000);
