// The reader process: does everything that touches one shared volume, with blocking calls, so that a volume that hangs hangs only this.
import { FollowedFile, type Outlet } from "./followed-file.ts";
import { prepareFiles, removeFiles } from "./prepare-files.ts";
import { type FromReader, faultOf, type Question, type ToReader } from "./protocol.ts";
import { TailLoop } from "./tail-loop.ts";
import type { Sight } from "./visibility.ts";

const [root = "/", aliveEveryMs = "500"] = process.argv.slice(1);
process.title = `output reader ${root}`;
// Errors are answers here, many per second for a file that is not there yet.
Error.stackTraceLimit = 0;

let full = false;
const written = (): void => {
  if (!full) return;
  full = false;
  loop.resume();
};

function send(message: FromReader): void {
  if (!process.connected) process.exit(0);
  if (process.send?.(message, undefined, undefined, written) === false) full = true;
}

const outlet: Outlet = {
  get ready() {
    return !full;
  },
  bytes: (id, offset, bytes) => send({ type: "bytes", id, offset, bytes }),
  refreshed: (ask, offset, missing) => send({ type: "refreshed", ask, offset, missing }),
  failed: (ask, fault) => send({ type: "failed", ask, fault }),
  trouble: (id, fault) => send({ type: "trouble", id, fault }),
  well: (id) => send({ type: "well", id }),
};

const sight: Sight = { plain: false };
const loop = new TailLoop<FollowedFile>({ ready: () => !full });

function answer(question: Question, path: string, work: () => void): void {
  try {
    work();
    send({ type: "done", ask: question.ask });
  } catch (error) {
    send({ type: "failed", ask: question.ask, fault: faultOf(error, path) });
  }
}

type Handlers = { readonly [T in ToReader["type"]]: (message: Extract<ToReader, { type: T }>, now: number) => void };
const handlers: Handlers = {
  open: (message, now) => loop.add(new FollowedFile(message, outlet, sight, now)),
  close: ({ id }) => loop.remove(id),
  ack({ id, bytes }, now) {
    if (loop.files.get(id)?.ack(bytes, now)) loop.wake();
  },
  expect({ id, bytes }, now) {
    loop.files.get(id)?.expect(bytes, now);
    loop.wake();
  },
  refresh({ id, ask }, now) {
    loop.files.get(id)?.refresh(ask, now);
    loop.wake();
  },
  prepare: (message) => answer(message, message.paths[0] ?? root, () => prepareFiles(root, message.paths, message.folders, message.owner)),
  remove: (message) => answer(message, message.paths[0] ?? root, () => removeFiles(root, message.paths)),
};

// The server's end is this process's end; signals to the whole group are the server's to handle.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit(0));
process.on("message", (message: ToReader) => {
  const handle = handlers[message.type] as (message: ToReader, now: number) => void;
  handle(message, performance.now());
});
setInterval(() => send({ type: "alive" }), Number(aliveEveryMs));
send({ type: "alive" });
