// The process of one volume: makes every file call on it, with blocking calls, so that a volume that hangs blocks only this process.
import { type FromVolume, faultOf, type Of, type OperationName, type Operations, type ToVolume } from "../protocol.ts";
import { type Channel, FollowedFile, type FollowTools } from "./followed-file.ts";
import { keepEnd } from "./keep-end.ts";
import { keepSecret } from "./keep-secret.ts";
import { lookAt } from "./look-at.ts";
import { openBelow } from "./open-below.ts";
import { prepareFiles, removeFiles } from "./prepare-files.ts";
import { listFolder, locate, readFile, readTree } from "./read-files.ts";
import { storeTree } from "./store-tree.ts";
import { findStale, removeStale } from "./sweep.ts";
import { TailLoop } from "./tail-loop.ts";

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

function send(message: FromVolume): void {
  if (!process.connected) process.exit(0);
  if (process.send?.(message, undefined, undefined, written) === false) full = true;
}

const channel: Channel = { ready: () => !full, send };
const tools: FollowTools = { cache: { showsGrowth: false }, open: openBelow(root) };
const loop = new TailLoop<FollowedFile>(channel);

type Performed = { readonly [N in OperationName]: (of: Of<N>) => Promise<ReturnType<Operations[N]>> };
const operations: Performed = {
  prepare: ({ paths, folders, owner }) => prepareFiles(root, paths, folders, owner),
  remove: ({ paths }) => removeFiles(root, paths),
  keepSecret: (of) => keepSecret(root, of),
  keepEnd: (of) => keepEnd(root, of),
  locate: async (of) => locate(root, of),
  readFile: (of) => readFile(root, of),
  listFolder: (of) => listFolder(root, of),
  readTree: (of) => readTree(root, of),
  lookAt: (of) => lookAt(root, of),
  storeTree: (of) => storeTree(root, of),
  findStale: (of) => findStale(root, of),
  removeStale: (of) => removeStale(root, of),
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
  open: (message, now) => loop.add(new FollowedFile(message, channel, tools, now)),
  close: ({ id }) => loop.remove(id),
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
setInterval(() => send({ type: "alive" }), Number(aliveEveryMs));
send({ type: "alive" });
