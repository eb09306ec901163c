// Sends wake-ups, best effort: no answer, no retry, and no error of it matters to the run.
import type { Socket } from "node:dgram";
import { readOrNull } from "../files.ts";
import { readWakeUpAddress, type WakeUpKind, wakeUpDatagram } from "./datagram.ts";

/** Between two wake-ups for the same file: more of them would not make the reader faster. */
const SHORTEST_MS = 5;
/** Another server may have adopted the Job: the mounted Secret is read again after this long. It is memory. */
const READ_AGAIN_MS = 10_000;

export interface WakeUpCommand {
  /** In base64url. */
  readonly token: string;
  /** Where the mounted Secret has the reader's address. */
  readonly addressFile: string;
}

interface FileState {
  size: number;
  sentAt: number;
  /** Sends the last size of a burst. */
  timer: NodeJS.Timeout | null;
}

export class WakeUpSender {
  readonly #token: Buffer;
  readonly #addressFile: string;
  readonly #files: Readonly<Record<WakeUpKind, FileState>> = { output: unsent(), meta: unsent() };
  #address = "";
  #readAt = Number.NEGATIVE_INFINITY;
  #socket: Socket | null = null;
  #connected = false;

  constructor({ token, addressFile }: WakeUpCommand) {
    this.#token = Buffer.from(token, "base64url");
    this.#addressFile = addressFile;
    this.#readAddress(performance.now());
  }

  /** The file has this many bytes, as far as its writer knows. */
  written(kind: WakeUpKind, size: number): void {
    const file = this.#files[kind];
    file.size = size;
    if (file.timer !== null) return;
    const now = performance.now();
    const wait = file.sentAt + SHORTEST_MS - now;
    if (wait <= 0) this.#send(kind, now);
    else file.timer = setTimeout(() => this.#send(kind, performance.now()), wait).unref();
  }

  /** Sends what still waits: the process is about to end. */
  finish(): void {
    for (const kind of ["output", "meta"] as const) if (this.#files[kind].timer !== null) this.#send(kind, performance.now());
  }

  #send(kind: WakeUpKind, now: number): void {
    const file = this.#files[kind];
    if (file.timer !== null) clearTimeout(file.timer);
    file.timer = null;
    file.sentAt = now;
    if (now - this.#readAt >= READ_AGAIN_MS) this.#readAddress(now);
    if (!this.#connected) return;
    try {
      this.#socket?.send(wakeUpDatagram(this.#token, kind, file.size), ignore);
    } catch {
      // The socket is just being closed.
    }
  }

  #readAddress(now: number): void {
    this.#readAt = now;
    const text = readOrNull(this.#addressFile) ?? "";
    if (text === this.#address) return;
    this.#address = text;
    void this.#connect().catch(ignore);
  }

  /** Connected, so that each wake-up is one system call without a look-up. */
  async #connect(): Promise<void> {
    this.#connected = false;
    this.#socket?.close();
    this.#socket = null;
    const found = readWakeUpAddress(this.#address);
    if (found === null) return;
    const { createSocket } = await import("node:dgram");
    const { address, port } = found;
    const family = address.includes(":") ? 6 : 4;
    // Both the address that it is bound to and the reader's need no look-up.
    const socket = createSocket({ type: `udp${family}`, lookup: (given, _, done) => done(null, given, family) });
    socket.unref();
    // Nobody listens there, or no way leads there: polling finds everything.
    socket.on("error", ignore);
    this.#socket = socket;
    // Node calls back with an error too, which its types do not say.
    socket.connect(port, address, (error?: Error | null) => {
      if (error || this.#socket !== socket) return;
      this.#connected = true;
      // What was written meanwhile.
      for (const kind of ["output", "meta"] as const) if (this.#files[kind].size > 0) this.written(kind, this.#files[kind].size);
    });
  }
}

function unsent(): FileState {
  return { size: 0, sentAt: Number.NEGATIVE_INFINITY, timer: null };
}

const ignore = (): void => {};
