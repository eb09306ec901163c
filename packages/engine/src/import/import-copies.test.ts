import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { importState } from "./child/import.ts";
import type { ImportCommand, ImportProgress } from "./protocol.ts";
import { makeDatabase } from "./testing/import-fixture.ts";

// What is in the server's temporary folder while an import goes on.

let root: string;
let temp: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "import-copies-"));
  temp = join(root, "temp");
  for (const folder of ["temp", "saved"]) mkdirSync(join(root, folder));
});
afterEach(() => rmSync(root, { recursive: true }));

function command(): ImportCommand {
  const path = join(root, "many/*/shared.db");
  const source = { kind: "rows", path, to: "own.db", root: { table: "session", column: "id", value: "s1" }, rows: [], set: {} } as const;
  return {
    ...{ root, sources: [source], saved: join(root, "saved"), parts: [{ kind: "sqlite", path: "own.db" }], key: "key", run: "run-1" },
    ...{ maxBytes: 1_000_000, maxDatabaseBytes: 1_000_000, owner: null, temp },
  };
}

test("no copy of a place that has not the session, or cannot be read, stays", async () => {
  makeDatabase(join(root, "many/a/shared.db"), "CREATE TABLE session (id TEXT)");
  makeDatabase(join(root, "many/b/shared.db"), "CREATE VIEW session AS SELECT 's1' AS id");
  mkdirSync(join(root, "many/c"));
  writeFileSync(join(root, "many/c/shared.db"), "anything".repeat(1000));
  expect(await importState(command(), () => {})).toMatchObject({ kind: "unfit" });
  expect(readdirSync(temp)).toEqual(["in-use"]);
});

test("a temporary folder that somebody removes meanwhile makes no empty session", async () => {
  makeDatabase(join(root, "many/a/shared.db"), "CREATE TABLE session (id TEXT)", "INSERT INTO session VALUES ('s1')");
  const removing = ({ step }: ImportProgress): void => {
    if (step === "copies") rmSync(temp, { recursive: true, force: true });
  };
  const answer = await importState(command(), removing).catch((error) => error);
  expect(answer.kind).toBe("stalled");
  expect(readdirSync(join(root, "saved"))).toEqual([]);
  expect(await importState({ ...command(), temp: join(root, "none") }, () => {}).catch((error) => error)).toMatchObject({ code: "ENOENT" });
});
