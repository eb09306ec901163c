import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import type { ListenOptions } from "./protocol.ts";

/** A server has one address, or one for each cluster that it uses. */
const most = 8;

interface Listening {
  readonly options: ListenOptions;
  answer: Promise<WakeUpAddress | null>;
  /** Null until the process has answered. */
  bound: WakeUpAddress | null;
}

/** Where a volume's process listens for wake-ups. A process that replaces a dead one listens at the same places. */
export class ListeningAddresses {
  readonly #listen: (options: ListenOptions) => Promise<WakeUpAddress>;
  readonly #known = new Map<string, Listening>();

  constructor(listen: (options: ListenOptions) => Promise<WakeUpAddress>) {
    this.#listen = listen;
  }

  /** Never rejects; what failed is tried again by the next that asks. */
  at(options: ListenOptions): Promise<WakeUpAddress | null> {
    const key = JSON.stringify(options);
    const known = this.#known.get(key);
    if (known !== undefined) return known.answer;
    if (this.#known.size >= most) return Promise.resolve(null);
    const listening: Listening = { options, answer: Promise.resolve(null), bound: null };
    this.#known.set(key, listening);
    return this.#ask(key, listening, options);
  }

  /** Has a new process listen where the one before it did, since runs send to it; where another has taken the port, at any. */
  repeat(): void {
    for (const [key, listening] of this.#known) {
      const { bound, options } = listening;
      // What was not answered yet is asked again without this.
      if (bound !== null) void this.#ask(key, listening, { addresses: [bound.address], ports: [bound.port, ...options.ports] });
    }
  }

  #ask(key: string, listening: Listening, options: ListenOptions): Promise<WakeUpAddress | null> {
    listening.bound = null;
    listening.answer = this.#listen(options).then(
      (bound) => {
        listening.bound = bound;
        return bound;
      },
      () => {
        this.#known.delete(key);
        return null;
      },
    );
    return listening.answer;
  }
}
