// A volume with something to be imported, and what became of it. For tests.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StatePart } from "@paperclip-k8s/runner";
import { type RestoreAnswer, restoreState } from "../../../../runner/src/state/restore-state.ts";
import { stateKey } from "../../record-trust.ts";
import { type ImportOptions, type ImportRequest, importState } from "../import-state.ts";
import type { ImportAnswer, ImportSource } from "../protocol.ts";

export const SECRET: Buffer = Buffer.alloc(32, 7);

export interface ImportStage {
  readonly root: string;
  readonly saved: string;
  readonly path: (name: string) => string;
  readonly import: (
    sources: readonly ImportSource[],
    parts: readonly StatePart[],
    over?: Partial<ImportRequest>,
    options?: Partial<ImportOptions>,
  ) => Promise<ImportAnswer | null>;
  /** What a run of this task finds in its home. */
  readonly restore: (parts: readonly StatePart[], key?: string) => { readonly home: string; readonly answer: RestoreAnswer };
  readonly end: () => void;
}

export function importStage(): ImportStage {
  const root = mkdtempSync(join(tmpdir(), "import-test-"));
  const saved = join(root, "state/task");
  mkdirSync(saved, { recursive: true });
  const homes: string[] = [];
  return {
    root,
    saved,
    path: (name) => join(root, name),
    import: (sources, parts, over = {}, options = {}) =>
      importState(
        {
          ...{ root, sources, saved, parts, run: "run-1", owner: null, recordSecret: SECRET },
          ...{ maxBytes: 64 * 1024 * 1024, maxDatabaseBytes: 64 * 1024 * 1024, ...over },
        },
        { signal: new AbortController().signal, ...options },
      ),
    restore: (parts, key = stateKey(SECRET, saved)) => {
      const home = mkdtempSync(join(tmpdir(), "import-home-"));
      homes.push(home);
      return {
        home,
        answer: restoreState({ kind: "restore", saved, home, parts, maxBytes: 1024 ** 3, key, acceptUnsigned: false }, () => {}),
      };
    },
    end: () => {
      for (const folder of [root, ...homes]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function makeDatabase(file: string, ...statements: readonly string[]): void {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  // As somebody who writes the file's bytes could.
  db.enableDefensive(false);
  try {
    for (const statement of statements) db.exec(statement);
  } finally {
    db.close();
  }
}

/** All rows of a table, as the database in a home has them. */
export function rowsOf(file: string, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(file);
  try {
    return db.prepare(sql).all() as Record<string, unknown>[];
  } finally {
    db.close();
  }
}
