// Each adapter brings its own copy of this code into one server process: what all imports of the process share is kept in a place that they all know.
import { randomUUID } from "node:crypto";

export interface SharedState {
  /** Tells this process's folders from those of another with the same number. */
  readonly token: string;
  /** Folders of imports that go on. */
  readonly folders: Set<string>;
  /** How many imports go on. */
  running: number;
  /** Those that wait for their turn, first come first. */
  readonly waiting: (() => void)[];
}

const KEY = Symbol.for("agent-state-import.v1");

export function sharedState(): SharedState {
  const place = globalThis as { [KEY]?: SharedState };
  place[KEY] ??= { token: randomUUID().slice(0, 8), folders: new Set(), running: 0, waiting: [] };
  return place[KEY];
}
