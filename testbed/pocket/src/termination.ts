import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const messageLimit = 4096;
const logLimit = 2048;
const logLines = 80;

// The message of a terminated container, by the kubelet's rules.
export function terminationMessage(messageFile: string, logFile: string, policy: string | undefined, exitCode: number): string | undefined {
  const written = readPart(messageFile, messageLimit, "start");
  if (written !== "") return written;
  if (policy !== "FallbackToLogsOnError" || exitCode === 0) return undefined;
  const tail = readPart(logFile, logLimit, "end");
  const lines = tail.split(/(?<=\n)/);
  return lines.slice(-logLines).join("") || undefined;
}

function readPart(file: string, limit: number, from: "start" | "end"): string {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(handle);
    const buffer = Buffer.alloc(Math.min(limit, size));
    const read = readSync(handle, buffer, 0, buffer.length, from === "start" ? 0 : size - buffer.length);
    return buffer.subarray(0, read).toString();
  } finally {
    closeSync(handle);
  }
}
