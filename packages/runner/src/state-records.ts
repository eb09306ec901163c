// The part of the spec and of the records that is about the files a run begins with and the state it keeps.

/** Files copied into the home before the CLI starts, where they are there: logins and settings. */
export interface SeedSpec {
  /** Absolute folder that no agent can write to. */
  readonly from: string;
  /** Absolute folder in the pod, or `$HOME`. */
  readonly home: string;
  readonly files: readonly Seed[];
  /** The folder has the keys of this Secret instead: each is a file of the home, by its path with two underscores for each slash. */
  readonly secret?: string;
  /** For all of them together; one that does not fit is left out. */
  readonly maxBytes: number;
}

/** A file or a folder with everything in it, as a path below both folders. */
export interface Seed {
  readonly path: string;
  /** Where it belongs in the home; the same path unless set. */
  readonly to?: string;
  /** What is left out of the copy; the file itself stays as it is. */
  readonly without?: readonly LeftOut[];
}

/** An entry that another program once left in a JSON file. */
export interface LeftOut {
  /** The file, below the seed's path; "" = the seed itself. */
  readonly file: string;
  /** The keys that lead to the entry; null stands for every key or item. */
  readonly at: readonly (string | null)[];
  /** What it has to be exactly. */
  readonly is: unknown;
  /** For the log. */
  readonly why: string;
}

/** What the CLI keeps from one run to the next: restored into the pod before it starts, saved at intervals and at its end. */
export interface StateSpec {
  /** Folder on the shared volume, made if it is not there. Two runs that save into it at once harm nothing; the later one stands. */
  readonly saved: string;
  /** Absolute folder in the pod, or `$HOME`, on a local disk, private to the run; a save at an interval needs room there for each database once more. */
  readonly home: string;
  readonly parts: readonly StatePart[];
  /** Kept beside the state and given at the next restore: a text, or the command whose first line of output it is. */
  readonly version: string | readonly [string, ...string[]] | null;
  /** 0 = only at the end. */
  readonly intervalSec: number;
  /** A larger state is not saved. */
  readonly maxBytes: number;
  /** What gives no more bytes for this long is not taken for lost: the CLI is not started (`RUNNER_EXIT.noState`). */
  readonly restoreSec: number;
  /** Key of the MAC of each saved state, base64url; absent: states are not signed. */
  readonly key?: string;
  /** Whether a state without a MAC, which an earlier version saved, is restored. */
  readonly acceptUnsigned?: boolean;
  /** For the save at the end; a pod that is stopped has only what is left of `stopGraceSec` and most of `drainSec`. */
  readonly saveSec: number;
}

/** A path below `home`; links and special files are left out. */
export type StatePart =
  /** A SQLite database with its log. */
  | { readonly kind: "sqlite"; readonly path: string }
  /** A file, or a folder with everything in it. */
  | { readonly kind: "files"; readonly path: string };

/** State was restored before the CLI's start, or saved while it runs; without an end record, the last one is the newest saved session. */
export interface StateRecord {
  readonly type: "state";
  readonly at: string;
  readonly act: "restored" | "saved";
  /** null: there was nothing to restore, a fresh start. */
  readonly point: StatePoint | null;
  readonly ms: number;
}

/** A state as it stands on the volume. */
export interface StatePoint {
  /** Name of its file in the `saved` folder. */
  readonly generation: string;
  /** When it was saved. */
  readonly at: string;
  readonly bytes: number;
  /** What `version` gave when it was saved. */
  readonly version: string | null;
}

/** What became of the state. */
export interface StateEnd {
  /** What the CLI started from; null: a fresh start. */
  readonly restored: StatePoint | null;
  readonly restoreMs: number;
  /** The volume has what the CLI left. False: the next run starts from `last`, and `error` says why. */
  readonly saved: boolean;
  /** The newest state on the volume that this run knows of. */
  readonly last: StatePoint | null;
  readonly saveMs: number;
  readonly error: string | null;
}
