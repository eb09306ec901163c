// How full a bounded buffer is: full above its limit, with room again at half of it; full and not moving is a stall.

export class Backlog {
  full = false;
  /** The buffer is full (true) or has room again (false). */
  onFull: (full: boolean) => void = () => {};
  readonly #limit: number;
  readonly #stallMs: number;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(limit: number, stallMs: number, onStall: () => void) {
    this.#limit = limit;
    this.#stallMs = stallMs;
    this.#onStall = onStall;
  }

  /** Something was put in; `waiting` bytes are in it now. */
  grew(waiting: number): void {
    if (waiting > this.#limit) this.#set(true);
  }

  /** Something was taken out. */
  moved(waiting: number): void {
    if (!this.full) return;
    if (waiting <= this.#limit / 2) this.#set(false);
    else this.#watchStall();
  }

  /** Nothing waits any more: what is left was given up. */
  clear(): void {
    this.#set(false);
  }

  #set(full: boolean): void {
    if (this.full === full) return;
    this.full = full;
    this.#watchStall();
    this.onFull(full);
  }

  /** Only a full buffer makes a stall matter: until then the reader may take its time. */
  #watchStall(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.full ? setTimeout(this.#onStall, this.#stallMs) : null;
  }
}
