import { spawn } from "node:child_process";
import { importText } from "../../generated/import-text.ts";
import { stateKey } from "../record-trust.ts";
import type { FromImport, ImportAnswer, ImportCommand, ImportProgress } from "./protocol.ts";
import { inTempFolder } from "./temp-folder.ts";

export interface ImportOptions {
  /** What comes first: the caller no longer wants it. */
  readonly signal: AbortSignal;
  /** From time to time, while it goes on. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Without progress for this long it is ended: 60 s. */
  readonly stallMs?: number;
  /** Its process has started. */
  readonly onProcess?: (pid: number) => void;
}

export type ImportRequest = Omit<ImportCommand, "temp" | "key"> & { readonly recordSecret: Uint8Array };

const STALL_MS = 60_000;
const HEAP_MB = 256;

/**
 * Takes a session that is not kept as a saved state into a state folder that has none, in a process of its own: what it reads could be written
 * by every agent. Null = the caller no longer wants it.
 */
export async function importState({ recordSecret, ...request }: ImportRequest, options: ImportOptions): Promise<ImportAnswer | null> {
  if (options.signal.aborted) return null;
  const key = stateKey(recordSecret, request.saved);
  try {
    return await inTempFolder((temp) => runImport({ ...request, key, temp }, options));
  } catch (error) {
    return { kind: "blocked", reason: `the server's temporary folder cannot be used: ${(error as Error).message}` };
  }
}

function runImport(
  command: ImportCommand,
  { signal, onProgress, stallMs = STALL_MS, onProcess }: ImportOptions,
): Promise<ImportAnswer | null> {
  const flags = [`--max-old-space-size=${HEAP_MB}`, "--no-warnings", "--input-type=commonjs"];
  const child = spawn(process.execPath, [...flags, "-e", importText], {
    // Neither the volume as working directory nor the server's settings and secrets.
    cwd: "/",
    env: process.env.LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
  let last: ImportProgress = { step: "volume", bytes: 0 };
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (answer: ImportAnswer | null): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      // One that hangs in a call to a dead mount ends when that call does; nobody waits for it.
      child.kill("SIGKILL");
      resolve(answer);
    };
    const onAbort = (): void => end(null);
    const arm = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => end(withoutProgress(last, stallMs, command.root)), stallMs);
    };
    child.on("message", (message: FromImport) => {
      if ("answer" in message) return end(message.answer);
      last = message.progress;
      arm();
      onProgress?.(last);
    });
    child.on("error", (error) => end({ kind: "stalled", reason: `its process cannot be started: ${error.message}` }));
    child.on("exit", (code, killed) => end(diedOf(last, killed ?? code)));
    signal.addEventListener("abort", onAbort);
    arm();
    if (child.pid !== undefined) onProcess?.(child.pid);
    child.send(command, () => {});
  });
}

/** A volume may answer again; a database on the server's own disk that keeps SQLite busy will do so every time. */
function withoutProgress({ step, bytes }: ImportProgress, stallMs: number, root: string): ImportAnswer {
  const time = `no progress for ${Math.round(stallMs / 1000)} s after ${bytes} bytes`;
  if (step === "volume") return { kind: "stalled", reason: `the volume at ${root} does not answer: ${time}` };
  return { kind: "unfit", reason: `its database cannot be read: ${time}` };
}

/** By a signal from outside it may go better the next time; of its own input it dies every time. */
function diedOf({ step }: ImportProgress, how: string | number | null): ImportAnswer {
  const reason = `its process ended (${how})`;
  return step === "copies" && how !== "SIGKILL" && how !== "SIGTERM" ? { kind: "unfit", reason } : { kind: "stalled", reason };
}
