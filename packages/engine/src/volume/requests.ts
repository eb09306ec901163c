import type { Answer, Question, ToReader } from "./protocol.ts";
import { VolumeError, volumeErrorOf } from "./volume-error.ts";

type Unasked<Q> = Q extends Question ? Omit<Q, "ask"> : never;
type Refreshed = Extract<Answer, { type: "refreshed" }>;

export interface AskOptions {
  readonly path: string;
  readonly timeoutMs: number;
  /** Asked when the time is up: true gives the same time again. */
  readonly goesOn: () => boolean;
}

interface Waiting {
  readonly question: Question;
  readonly path: string;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (answer: Refreshed | null) => void;
  readonly reject: (error: Error) => void;
}

/** Questions to the reader that wait for their answer, so that a reader that replaces a dead one can be asked again. */
export class Questions {
  readonly #send: (message: ToReader) => void;
  readonly #onAwaited: (awaited: boolean) => void;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(send: (message: ToReader) => void, onAwaited: (awaited: boolean) => void) {
    this.#send = send;
    this.#onAwaited = onAwaited;
  }

  ask(unasked: Unasked<Question>, options: AskOptions): Promise<Refreshed | null> {
    const question = { ...unasked, ask: ++this.#last } as Question;
    return new Promise((resolve, reject) => {
      const timer = setInterval(() => {
        if (!options.goesOn()) this.#take(question.ask)?.reject(stalled(options.path));
      }, options.timeoutMs).unref();
      this.#waiting.set(question.ask, { question, path: options.path, timer, resolve, reject });
      this.#onAwaited(true);
      this.#send(question);
    });
  }

  answer(answer: Answer): void {
    const waiting = this.#take(answer.ask);
    if (answer.type === "failed") waiting?.reject(volumeErrorOf(answer.fault));
    else waiting?.resolve(answer.type === "refreshed" ? answer : null);
  }

  /** Everything that is not answered yet, to a reader that has not heard it. */
  repeat(): void {
    for (const { question } of this.#waiting.values()) this.#send(question);
  }

  /** The volume does not answer. */
  giveUp(): void {
    for (const [ask, { path }] of this.#waiting) this.#take(ask)?.reject(stalled(path));
  }

  /** Nobody follows this file any more. */
  forget(id: number, error: Error): void {
    for (const [ask, { question }] of this.#waiting) {
      if (question.type === "refresh" && question.id === id) this.#take(ask)?.reject(error);
    }
  }

  #take(ask: number): Waiting | undefined {
    const waiting = this.#waiting.get(ask);
    this.#waiting.delete(ask);
    clearInterval(waiting?.timer);
    if (this.#waiting.size === 0) this.#onAwaited(false);
    return waiting;
  }
}

function stalled(path: string): VolumeError {
  return new VolumeError("volume_stalled", path, `the shared volume does not answer: ${path}`);
}
