import { type ChildProcess, spawn } from "node:child_process";
import { importText } from "../../generated/import-text.ts";
import { stateKey } from "../record-trust.ts";
import { decodeMessage } from "./decode-message.ts";
import { diedOf, withoutProgress } from "./ended.ts";
import type { ImportAnswer, ImportCommand, ImportProgress } from "./protocol.ts";
import { inTempFolder } from "./temp-folder.ts";
import { inTurn } from "./turns.ts";

export interface ImportOptions {
  /** What comes first: the caller no longer wants it. */
  readonly signal: AbortSignal;
  /** From time to time, while it goes on. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Without progress for this long it is ended: 60 s. */
  readonly stallMs?: number;
  /** How much longer its process may take to start: 30 s. */
  readonly startMs?: number;
  /** Its process has started. */
  readonly onProcess?: (pid: number) => void;
}

export type ImportRequest = Omit<ImportCommand, "temp" | "key"> & { readonly recordSecret: Uint8Array };

const STALL_MS = 60_000;
const START_MS = 30_000;
const HEAP_MB = 256;

/**
 * Takes a session that is not kept as a saved state into a state folder that has none, in a process of its own: what it reads could be written
 * by every agent. Null = the caller no longer wants it.
 */
export async function importState({ recordSecret, ...request }: ImportRequest, options: ImportOptions): Promise<ImportAnswer | null> {
  if (options.signal.aborted) return null;
  const key = stateKey(recordSecret, request.saved);
  try {
    return await inTurn(options.signal, () =>
      inTempFolder(async (temp) => {
        const child = startProcess();
        return child === null ? NOT_STARTED : runImport(child, { ...request, key, temp }, options);
      }),
    );
  } catch (error) {
    return { kind: "blocked", reason: `the server's temporary folder cannot be used: ${(error as Error).message}` };
  }
}

const NOT_STARTED: ImportAnswer = { kind: "stalled", reason: "the server can start no process for it at the moment" };

function startProcess(): ChildProcess | null {
  const flags = [`--max-old-space-size=${HEAP_MB}`, "--no-warnings", "--input-type=commonjs"];
  try {
    const child = spawn(process.execPath, [...flags, "-e", importText], {
      // Neither the volume as working directory nor the server's settings and secrets.
      cwd: "/",
      env: process.env.LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    endWithServer(child);
    return child;
  } catch {
    // Some of these errors are thrown, others come as an event.
    return null;
  }
}

function runImport(
  child: ChildProcess,
  command: ImportCommand,
  { signal, onProgress, stallMs = STALL_MS, startMs = START_MS, onProcess }: ImportOptions,
): Promise<ImportAnswer | null> {
  let last: ImportProgress = { step: "volume", bytes: 0 };
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (answer: ImportAnswer | null): void => {
      clearTimeout(timer);
      child.removeAllListeners("message");
      signal.removeEventListener("abort", onAbort);
      // One that hangs in a call to a dead mount ends when that call does; nobody waits for it.
      child.kill("SIGKILL");
      resolve(answer);
    };
    const onAbort = (): void => end(null);
    const arm = (more = 0): void => {
      clearTimeout(timer);
      timer = setTimeout(() => end(withoutProgress(last, stallMs, command.root)), stallMs + more);
    };
    child.on("message", (message: unknown) => {
      const known = decodeMessage(message);
      if (known === null) return end({ kind: "stalled", reason: "its process sent something unknown" });
      if ("answer" in known) return end(known.answer);
      last = known.progress;
      arm();
      onProgress?.(last);
    });
    child.on("error", () => end(NOT_STARTED));
    child.on("exit", (code, killed) => end(diedOf(last, killed ?? code)));
    signal.addEventListener("abort", onAbort);
    arm(startMs);
    if (child.pid !== undefined) onProcess?.(child.pid);
    child.send(command, () => {});
  });
}

/** A process that is busy does not notice that the server is gone. */
function endWithServer(child: ChildProcess): void {
  const kill = (): unknown => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
}
