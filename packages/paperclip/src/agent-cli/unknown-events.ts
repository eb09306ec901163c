import type { Entry } from "./entry.ts";

/** Events of types that an adapter does not know: a newer CLI may have changed its output. */
export class UnknownEvents {
  count = 0;
  firstType: string | null = null;

  /** The first one is worth a warning in the log; the others are only counted. */
  add(type: string, version: string | null = null): readonly Entry[] {
    this.count += 1;
    if (this.firstType !== null) return [];
    this.firstType = type.slice(0, 80);
    const by = version === null ? "the CLI" : `the CLI, version ${version},`;
    const what = `an event of type ${JSON.stringify(this.firstType)}, which this adapter does not know`;
    return [{ kind: "status", text: `warning: ${by} wrote ${what}; such events are left out` }];
  }

  /** Why a run without one known event cannot count as a success; null when there was a known one, or none at all. */
  problem(knownEvents: number): string | null {
    if (knownEvents > 0 || this.firstType === null) return null;
    const events = this.count === 1 ? "1 event" : `${this.count} events`;
    return `The CLI wrote ${events}, of which this adapter knows none (the first is of type ${JSON.stringify(this.firstType)}): use a version of the CLI that the adapter supports, or a newer adapter`;
  }
}
