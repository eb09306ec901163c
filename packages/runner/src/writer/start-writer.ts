// Where the writer works: in the runner itself, or in a process of its own where a runner with a file call that hangs could never end.
import { canEndAnyway } from "../file-calls.ts";
import type { Ack, ToWriter } from "./protocol.ts";
import { VolumeWriter } from "./volume-writer.ts";

export interface Writer {
  readonly send: (message: ToWriter) => void;
  /** Nothing more is begun. */
  readonly kill: () => void;
}

export interface WriterEvents {
  readonly onAck: (ack: Ack) => void;
  /** It answers no more. */
  readonly onOver: (reason: string) => void;
}

export function startWriter(runnerFile: string, events: WriterEvents): Writer {
  if (!canEndAnyway()) {
    const child = import("./writer-process.ts").then(({ startProcess }) => startProcess(runnerFile, events));
    const later = (act: (writer: Writer) => void): void => void child.then(act);
    return { send: (message) => later((writer) => writer.send(message)), kill: () => later((writer) => writer.kill()) };
  }
  const writer = new VolumeWriter(events.onAck);
  events.onAck({ type: "started" });
  return { send: (message) => writer.take(message), kill: () => writer.abandon() };
}
