import { type Clock, systemClock } from "../clock.ts";
import { listEvents, listEventsByObject } from "./calls.ts";
import type { Connection } from "./connection.ts";
import type { EventView } from "./views.ts";

/** Who asks within this time is answered by one list: pods that were made at once wait at once. */
const GATHER_MS = 250;
/** A list of the whole namespace answers those who ask so much later, too. */
const FRESH_MS = 2000;
/** Of a namespace with more events than one page holds only the warnings are listed for so long; of one with too many of those, nothing is. */
const CROWDED_MS = 60_000;
const NEVER: number = Number.NEGATIVE_INFINITY;

interface Listed {
  /** `warnings`: who has one is worth a list of its own, because other events may say that it is out of date; who has none has nothing to explain. */
  readonly which: "all" | "warnings";
  readonly byObject: ReadonlyMap<string, readonly EventView[]>;
}
/** Null = each object is asked for by itself. */
type Listing = Promise<Listed | null>;

const readers = new WeakMap<Connection, Map<string, SharedEvents>>();

/** The reader of a namespace's events for all runs. */
export function sharedEvents(connection: Connection, namespace: string): SharedEvents {
  const known = readers.get(connection) ?? new Map<string, SharedEvents>();
  readers.set(connection, known);
  const reader = known.get(namespace) ?? new SharedEvents(connection, namespace);
  known.set(namespace, reader);
  return reader;
}

/** Reads the events about many objects by one list, those about a single one by a list of its own. */
export class SharedEvents {
  readonly #connection: Connection;
  readonly #namespace: string;
  readonly #clock: Clock;
  #gathering: { readonly uids: Set<string>; readonly list: Listing } | null = null;
  #last: { readonly at: number; readonly list: Listing } | null = null;
  readonly #crowdedUntil = { all: NEVER, warnings: NEVER };

  constructor(connection: Connection, namespace: string, clock: Clock = systemClock) {
    this.#connection = connection;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** Events about one object, oldest first, at most some seconds old. Rejects as the list does, which is not tried twice. */
  async about(uid: string): Promise<readonly EventView[]> {
    const last = this.#fresh();
    const fresh = last === null ? null : await last;
    // A list without the object may be older than the object.
    const listed = fresh?.byObject.has(uid) ? fresh : await this.#gather(uid);
    const found = listed?.byObject.get(uid);
    if (listed?.which === "all" || (listed && found === undefined)) return found ?? [];
    return listEvents(this.#connection, this.#namespace, uid, { retry: { attempts: 1 } });
  }

  #fresh(): Listing | null {
    return this.#last !== null && this.#clock.now() - this.#last.at < FRESH_MS ? this.#last.list : null;
  }

  #gather(uid: string): Listing {
    const uids = this.#gathering?.uids ?? new Set<string>();
    this.#gathering ??= { uids, list: this.#clock.sleep(GATHER_MS).then(() => this.#share(uids)) };
    uids.add(uid);
    return this.#gathering.list;
  }

  #share(uids: ReadonlySet<string>): Listing | null {
    this.#gathering = null;
    const at = this.#clock.now();
    if (uids.size < 2 || at < this.#crowdedUntil.warnings) return null;
    const list = this.#list(at);
    const shared = { at, list };
    this.#last = shared;
    const forget = () => {
      if (this.#last === shared) this.#last = null;
    };
    list.then((found) => found === null && forget(), forget);
    // Nothing of a busy namespace is kept longer than it is of use.
    this.#clock.after(FRESH_MS, forget);
    return list;
  }

  async #list(at: number): Listing {
    for (const which of ["all", "warnings"] as const) {
      if (at < this.#crowdedUntil[which]) continue;
      const byObject = await listEventsByObject(this.#connection, this.#namespace, { which, retry: { attempts: 1 } });
      if (byObject !== null) return { which, byObject };
      this.#crowdedUntil[which] = at + CROWDED_MS;
    }
    return null;
  }
}
