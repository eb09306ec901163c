// What the runner asks of a process that restores or saves state, and what that answers.
import type { StatePart, StatePoint } from "../records.ts";

export interface RestoreCommand {
  readonly kind: "restore";
  readonly saved: string;
  readonly home: string;
  readonly parts: readonly StatePart[];
}

export interface SaveCommand {
  readonly kind: "save";
  readonly saved: string;
  readonly home: string;
  readonly parts: readonly StatePart[];
  readonly maxBytes: number;
  readonly version: string | null;
  readonly run: string;
  /** Stands in the name of every file this run makes in the `saved` folder. */
  readonly tag: string;
  /** The CLI is running: databases are copied by SQLite itself. */
  readonly live: boolean;
  /** Of the files as last saved or restored; the same again means that there is nothing to save. */
  readonly fingerprint: string | null;
  /** The generation this run started from; another one in its place was saved by somebody else. */
  readonly from: string | null;
  /** Generations that could not be used: no loss. */
  readonly damaged: readonly string[];
}

export interface RestoreAnswer {
  readonly kind: "restored";
  /** null: a fresh start. */
  readonly point: StatePoint | null;
  readonly fingerprint: string | null;
  /** Generations that were passed over. */
  readonly damaged: readonly string[];
  readonly notes: readonly string[];
}

export type SaveAnswer =
  | { readonly kind: "saved"; readonly point: StatePoint; readonly fingerprint: string | null; readonly notes: readonly string[] }
  | { readonly kind: "unchanged" }
  /** This runtime has no SQLite for a copy of a database in use. */
  | { readonly kind: "not-live" };
