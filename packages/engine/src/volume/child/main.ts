// The process of one volume: makes every file call on it, with blocking calls, so that a volume that hangs blocks only this process.
import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import { type FromVolume, faultOf, type ListenOptions, type Of, type OperationName, type Operations, type ToVolume } from "../protocol.ts";
import { type Channel, FollowedFile, type FollowTools } from "./followed-file.ts";
import { keepEnd } from "./keep-end.ts";
import { keepSecret } from "./keep-secret.ts";
import { lookAt } from "./look-at.ts";
import { openBelow } from "./open-below.ts";
import { claimFile, prepareFiles, removeFiles } from "./prepare-files.ts";
import { listFolder, locate, readFile, readLast, readTree } from "./read-files.ts";
import { isFull } from "./room.ts";
import { storeTree } from "./store-tree.ts";
import { findStale, removeStale } from "./sweep.ts";
import { TailLoop } from "./tail-loop.ts";
import { FollowedRuns } from "./wake-up/followed-runs.ts";
import { WakeUpReceiver } from "./wake-up/receiver.ts";

const ROOM_EVERY_MS = 5000;
const [root = "/", aliveEveryMs = "500"] = process.argv.slice(1);
process.title = `volume ${root}`;
// Errors are answers here, many per second for a file that is not there yet.
Error.stackTraceLimit = 0;

let full = false;
const written = (): void => {
  if (!full) return;
  full = false;
  loop.resume();
};

let silent = true;

function send(message: FromVolume): void {
  if (!process.connected) process.exit(0);
  silent = false;
  if (process.send?.(message, undefined, undefined, written) === false) full = true;
}

const channel: Channel = { ready: () => !full, send };
const tools: FollowTools = { cache: { showsGrowth: false }, open: openBelow(root) };
const loop = new TailLoop<FollowedFile>(channel);
const runs = new FollowedRuns<FollowedFile>(loop);

/** By what was asked: a server that did not wait for the answer asks again. */
const listening = new Map<string, Promise<WakeUpAddress>>();

function listen(of: ListenOptions): Promise<WakeUpAddress> {
  const key = JSON.stringify(of);
  const known = listening.get(key) ?? openReceiver(of);
  listening.set(key, known);
  known.catch(() => listening.delete(key));
  return known;
}

function openReceiver(of: ListenOptions): Promise<WakeUpAddress> {
  return new WakeUpReceiver({
    receive: (datagram, now) => runs.receive(datagram, now),
    runs: () => runs.size,
    closed: ({ address, port }, ms, first) => {
      runs.expectNone();
      // The server's own log: this concerns no single run.
      if (first) console.error(`${address}:${port} gets more datagrams than runs send: not listening for ${ms / 1000} s, output is polled`);
    },
  }).listen(of);
}

type Performed = { readonly [N in OperationName]: (of: Of<N>) => Promise<ReturnType<Operations[N]>> };
const operations: Performed = {
  prepare: (of) => prepareFiles(root, of),
  claim: ({ path, text }) => claimFile(root, path, text),
  remove: ({ paths }) => removeFiles(root, paths),
  keepSecret: (of) => keepSecret(root, of),
  keepEnd: (of) => keepEnd(root, of),
  locate: async (of) => locate(root, of),
  readFile: (of) => readFile(root, of),
  readLast: (of) => readLast(root, of),
  listFolder: (of) => listFolder(root, of),
  readTree: (of) => readTree(root, of),
  lookAt: (of) => lookAt(root, of),
  storeTree: (of) => storeTree(root, of),
  findStale: (of) => findStale(root, of),
  removeStale: (of) => removeStale(root, of),
  listen,
};

async function perform(ask: number, name: OperationName, of: unknown): Promise<void> {
  try {
    const operation = operations[name] as (of: unknown) => Promise<unknown>;
    send({ type: "done", ask, result: await operation(of) });
  } catch (error) {
    send({ type: "failed", ask, fault: faultOf(error, root) });
  }
}

type Handlers = { readonly [T in ToVolume["type"]]: (message: Extract<ToVolume, { type: T }>, now: number) => void };
const handlers: Handlers = {
  open: (message, now) =>
    loop.add(runs.follow(message.wakeUp, (announcements) => new FollowedFile(message, channel, tools, now, announcements))),
  close({ id }) {
    loop.remove(id);
    runs.forget(id);
  },
  ack({ id, bytes }, now) {
    if (loop.files.get(id)?.ack(bytes, now)) loop.reschedule();
  },
  expect({ id, bytes }, now) {
    loop.files.get(id)?.expect(bytes, now);
    loop.reschedule();
  },
  limit: ({ id, bytes }) => loop.files.get(id)?.limit(bytes),
  refresh({ id, ask }, now) {
    loop.files.get(id)?.refresh(ask, now);
    loop.reschedule();
  },
  operation: ({ ask, name, of }) => void perform(ask, name, of),
};

// The server's end is this process's end; signals to the whole group are the server's to handle.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));
process.on("message", (message: ToVolume) => {
  const handle = handlers[message.type] as (message: ToVolume, now: number) => void;
  handle(message, performance.now());
});
// Whatever is sent is a sign of life.
setInterval(() => {
  if (silent) send({ type: "alive" });
  silent = true;
}, Number(aliveEveryMs));
// Pods cannot say on a full volume that it is full.
let isFullNow = false;
setInterval(() => {
  const before = isFullNow;
  isFullNow = loop.files.size > 0 && isFull(root);
  if (isFullNow !== before) send({ type: "room", full: isFullNow });
}, ROOM_EVERY_MS);
send({ type: "alive" });
