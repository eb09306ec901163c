// The writer as a process of its own.
import { spawn } from "node:child_process";
import { type ToWriter, WRITER_FLAG } from "./protocol.ts";
import type { Writer, WriterEvents } from "./start-writer.ts";

export function startProcess(runnerFile: string, { onAck, onOver }: WriterEvents): Writer {
  const child = spawn(process.execPath, [runnerFile, WRITER_FLAG], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
  child.on("error", (error: NodeJS.ErrnoException) => onOver(`the writer process cannot be started (${error.code})`));
  child.on("close", () => onOver("the writer process ended unexpectedly"));
  child.on("message", onAck);
  const send = (message: ToWriter): void => {
    if (child.connected) child.send(message, () => {});
  };
  return { send, kill: () => child.kill("SIGKILL") };
}
