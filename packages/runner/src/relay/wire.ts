// A socket as two acts that can be awaited: read what came, write what there is room for.
import type { Socket } from "node:net";

/** Read ahead of who asks for it; beyond this the socket is paused. */
const AHEAD = 64 * 1024;
/** For the other side to take a last answer before the connection is cut. */
const LINGER_MS = 1_000;

export class Wire {
  /** The other side has ended or is gone. */
  isGone = false;
  onGone: () => void = () => {};
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #held = 0;
  #error: Error | null = null;
  #wake: () => void = () => {};
  #onRoom: () => void = () => {};

  /** Errors are told to whoever reads or writes; without that an error event would end the runner. */
  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    const over = (): void => {
      this.isGone = true;
      this.onGone();
      this.#wake();
    };
    socket.on("end", over);
    socket.on("error", (error) => {
      this.#error ??= error;
      over();
    });
    socket.on("close", () => {
      if (!this.isGone) this.#error ??= new Error("closed");
      over();
      this.#onRoom();
    });
    socket.on("drain", () => this.#onRoom());
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  /** Null at the other side's end; throws when the connection broke. */
  async read(): Promise<Buffer | null> {
    while (this.#chunks.length === 0) {
      if (this.#error) throw this.#error;
      if (this.isGone) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#chunks.shift() as Buffer;
    this.#held -= chunk.length;
    if (this.#held <= AHEAD) this.#socket.resume();
    return chunk;
  }

  /** Puts back what was read too far. */
  unread(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.unshift(chunk);
    this.#held += chunk.length;
  }

  /** Returns when there is room for more; one writer at a time. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#socket.writable && !this.#socket.write(bytes)) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
    if (!this.#socket.writable) throw this.#error ?? new Error("closed");
  }

  /** Sends what is under way, then closes; what still comes in is dropped, for a reset would take the answer with it. */
  finish(): void {
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** So that a half answer cannot be taken for a whole one. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held > AHEAD) this.#socket.pause();
    this.#wake();
  }
}
