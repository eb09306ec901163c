import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import type { ListenOptions } from "./protocol.ts";

/** A server has one address, or one for each cluster that it uses. */
const most = 8;

interface Listening {
  readonly options: ListenOptions;
  /** Null when the last answer did not come in time: whoever asks next asks the process. */
  answer: Promise<WakeUpAddress | null> | null;
  /** Where a process of this volume listened last. Runs that have started send there. */
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
    if (known !== undefined) return known.answer ?? this.#ask(key, known);
    if (this.#known.size >= most) return Promise.resolve(null);
    const listening: Listening = { options, answer: null, bound: null };
    this.#known.set(key, listening);
    return this.#ask(key, listening);
  }

  /** Has a new process listen where the one before it did. */
  repeat(): void {
    for (const [key, listening] of this.#known) {
      // Where no process has listened yet, the first request is still under way, and is repeated with all others.
      if (listening.bound !== null) void this.#ask(key, listening);
    }
  }

  #ask(key: string, listening: Listening): Promise<WakeUpAddress | null> {
    const answer = this.#listen(preferred(listening)).then(
      (bound) => {
        listening.bound = bound;
        return bound;
      },
      () => {
        // A process that is slow to start may listen there all the same, so the next request must name the same place.
        if (listening.bound === null) this.#known.delete(key);
        else if (listening.answer === answer) listening.answer = null;
        return null;
      },
    );
    listening.answer = answer;
    return answer;
  }
}

/** The place that runs send to; if another process has taken the port, any that was asked for. */
function preferred({ bound, options }: Listening): ListenOptions {
  return bound === null ? options : { addresses: [bound.address], ports: [bound.port, ...options.ports] };
}
