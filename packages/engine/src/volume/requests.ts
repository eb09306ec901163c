import type { Answer, Request, ToVolume } from "./protocol.ts";
import { VolumeError, volumeErrorOf } from "./volume-error.ts";

type Unnumbered<R> = R extends Request ? Omit<R, "ask"> : never;

export interface RequestOptions {
  readonly path: string;
  /** Asked after each of these intervals: false gives the request up. */
  readonly intervalMs: number;
  readonly goesOn: () => boolean;
}

interface Pending {
  readonly request: Request;
  readonly path: string;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Requests to a volume's process that wait for their answer. A process that replaces a dead one is asked again. */
export class PendingRequests {
  readonly #root: string;
  readonly #send: (message: ToVolume) => void;
  readonly #onAwaited: (awaited: boolean) => void;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(root: string, send: (message: ToVolume) => void, onAwaited: (awaited: boolean) => void) {
    this.#root = root;
    this.#send = send;
    this.#onAwaited = onAwaited;
  }

  ask(unnumbered: Unnumbered<Request>, { path, intervalMs, goesOn }: RequestOptions): Promise<unknown> {
    const request = { ...unnumbered, ask: ++this.#last } as Request;
    return new Promise((resolve, reject) => {
      const timer = setInterval(() => {
        if (!goesOn()) this.#take(request.ask)?.reject(this.#stalled(path));
      }, intervalMs).unref();
      this.#pending.set(request.ask, { request, path, timer, resolve, reject });
      this.#onAwaited(true);
      this.#send(request);
    });
  }

  answer(answer: Answer): void {
    const pending = this.#take(answer.ask);
    if (answer.type === "failed") pending?.reject(volumeErrorOf(answer.fault));
    else pending?.resolve(answer.result);
  }

  /** Asks a new process everything that is not answered yet. */
  repeat(): void {
    for (const { request } of this.#pending.values()) this.#send(request);
  }

  /** The volume does not answer. */
  giveUp(): void {
    for (const [ask, { path }] of this.#pending) this.#take(ask)?.reject(this.#stalled(path));
  }

  /** The tail of this file was closed. */
  forget(id: number, error: Error): void {
    for (const [ask, { request }] of this.#pending) {
      if (request.type === "refresh" && request.id === id) this.#take(ask)?.reject(error);
    }
  }

  #take(ask: number): Pending | undefined {
    const pending = this.#pending.get(ask);
    this.#pending.delete(ask);
    clearInterval(pending?.timer);
    if (this.#pending.size === 0) this.#onAwaited(false);
    return pending;
  }

  #stalled(path: string): VolumeError {
    const below = path === this.#root ? "" : `: ${path}`;
    return new VolumeError("volume_stalled", path, `the volume at ${this.#root} does not answer${below}`);
  }
}
