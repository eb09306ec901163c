// What an import is asked for, and the messages between the server and the process that does it.
import type { StatePart } from "@paperclip-k8s/runner";
import type { FileOwner } from "../volume/protocol.ts";

/** Where a session may be that was not kept as a saved state. The first source that has it is taken. */
export type ImportSource = FileImport | RowImport;

/** A file, and what lies beside it. */
interface FileImport {
  readonly kind: "files";
  /** Absolute; one folder in it may be `*`, for any folder. Of several the newest is taken. */
  readonly path: string;
  /** Folder above it from which it is reached without following links; the volume's root unless set. */
  readonly under?: string;
  /** Folders that `*` stands for first. */
  readonly first?: readonly string[];
  /** Names beside it that belong to it, files or folders with everything in them. */
  readonly beside?: readonly string[];
  /** The folder that gets them, below the home. */
  readonly to: string;
}

/** Some rows of a SQLite database that holds much else. They get a database of their own with the same tables. */
export interface RowImport {
  readonly kind: "rows";
  /** Absolute; one folder in it may be `*`, for any folder. */
  readonly path: string;
  /** As that of a file. */
  readonly under?: string;
  /** The new database, below the home. */
  readonly to: string;
  /** The row by which the session is known. */
  readonly root: { readonly table: string; readonly column: string; readonly value: string };
  /** Further rows, in the order in which they can be added; tables that are not there are passed over. */
  readonly rows: readonly RowRule[];
  /** Values that rows get instead of their own, by table and column. */
  readonly set: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}

export type RowRule =
  /** Those of the session itself: this column has the root's value. */
  | { readonly table: string; readonly column: string }
  /** The one that the root's row names in its column `from`. Added before the root's. */
  | { readonly table: string; readonly column: string; readonly from: string }
  /** All rows: what says which form the tables have. */
  | { readonly table: string };

export interface ImportCommand {
  /** Mount point of the volume: no link below it is followed. */
  readonly root: string;
  readonly sources: readonly ImportSource[];
  /** Nothing is imported: the answer says what would be looked at first. */
  readonly onlyLook?: boolean;
  /** Folder of the saved state; it has to be there. */
  readonly saved: string;
  /** Which files are a state; nothing else gets into the archive. */
  readonly parts: readonly StatePart[];
  /** Key of the state's MAC. */
  readonly key: string;
  /** Noted in the archive. */
  readonly run: string;
  /** Of what is taken. */
  readonly maxBytes: number;
  /** Of the database that rows are taken from: all of it is copied. The larger one of both is what an import copies in all. */
  readonly maxDatabaseBytes: number;
  /** To whom the archive belongs; null = to the server's user. */
  readonly owner: FileOwner | null;
  /** Folder of the server's own for the copies, on a local disk. */
  readonly temp: string;
}

export type ImportAnswer =
  | { readonly kind: "imported"; readonly from: string; readonly bytes: number; readonly files: number; readonly rows: number }
  /** The first place that is there, and when it was written to last. */
  | { readonly kind: "seen"; readonly mtimeMs: number }
  /** A run has saved a state, or what was imported before is there and its source is gone. */
  | { readonly kind: "saved-already" }
  /** Seen: it is in none of these places. */
  | { readonly kind: "not-found"; readonly places: readonly string[] }
  /** It is there, and will never be fit to be taken. */
  | { readonly kind: "unfit"; readonly reason: string }
  /** Somebody has to change something first: it cannot be read, or there is no room. */
  | { readonly kind: "blocked"; readonly reason: string }
  /** It may go better the next time. */
  | { readonly kind: "stalled"; readonly reason: string };

/** Which files an import works on: those of the volume, or copies on the server's own disk. */
export type ImportStep = "volume" | "copies";

export interface ImportProgress {
  readonly step: ImportStep;
  readonly bytes: number;
}

export type FromImport = { readonly progress: ImportProgress } | { readonly answer: ImportAnswer };
