import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive, until } from "../volume/testing/scratch.ts";
import type { ImportSource, RowImport } from "./protocol.ts";
import { type ImportStage, importStage, makeDatabase, rowsOf } from "./testing/import-fixture.ts";

let stage: ImportStage;
beforeEach(() => {
  stage = importStage();
});
afterEach(() => stage.end());

const PARTS = [{ kind: "sqlite", path: "own.db" }] as const;
const source = (over: Partial<RowImport> = {}): ImportSource[] => [
  {
    kind: "rows",
    path: stage.path("shared.db"),
    to: "own.db",
    root: { table: "session", column: "id", value: "s1" },
    rows: [
      { table: "migration" },
      { table: "project", column: "id", from: "project_id" },
      { table: "message", column: "session_id" },
      { table: "not_there", column: "session_id" },
    ],
    set: { session: { folder: "/today" } },
    ...over,
  },
];

const TABLES = `
  CREATE TABLE migration (id TEXT PRIMARY KEY, at INTEGER NOT NULL DEFAULT 7);
  CREATE TABLE project (id TEXT PRIMARY KEY, name TEXT DEFAULT 'it''s');
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES project(id) ON DELETE CASCADE, parent_id TEXT, folder TEXT, cost REAL);
  CREATE TABLE message (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, data BLOB, FOREIGN KEY (session_id) REFERENCES session(id));
  CREATE TABLE secret (value TEXT);
  CREATE UNIQUE INDEX message_order ON message (session_id, id DESC);
  INSERT INTO migration VALUES ('m1', 1), ('m2', 2);
  INSERT INTO project VALUES ('p1', 'one'), ('p2', 'two');
  INSERT INTO session VALUES ('s1', 'p1', 's2', '/then', 0.5), ('s2', 'p2', 's1', '/other', 0);
  INSERT INTO message VALUES (9007199254740993, 's1', x'00ff'), (2, 's2', 'word of another'), (3, 's1', NULL);
  INSERT INTO secret VALUES ('a key');`;

const shared = (...more: string[]): void => makeDatabase(stage.path("shared.db"), TABLES, ...more);

test("the rows of one session, and no others, get a database of their own with the same tables", async () => {
  shared();
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported", from: stage.path("shared.db"), rows: 6 });
  const { home } = stage.restore(PARTS);
  const own = join(home, "own.db");
  expect(rowsOf(own, "SELECT * FROM session")).toEqual([{ id: "s1", project_id: "p1", parent_id: "s2", folder: "/today", cost: 0.5 }]);
  expect(rowsOf(own, "SELECT id FROM project UNION ALL SELECT id FROM migration")).toEqual([{ id: "p1" }, { id: "m1" }, { id: "m2" }]);
  expect(rowsOf(own, "SELECT CAST(id AS TEXT) AS id, hex(data) AS data FROM message ORDER BY 1")).toEqual([
    { id: "3", data: "" },
    { id: "9007199254740993", data: "00FF" },
  ]);
  expect(rowsOf(own, "SELECT * FROM secret")).toEqual([]);
  expect(readFileSync(own).includes("word of another")).toBe(false);
  for (const pragma of ["table_xinfo(session)", "table_xinfo(migration)", "foreign_key_list(session)", "index_xinfo(message_order)"])
    expect(rowsOf(own, `PRAGMA ${pragma}`), pragma).toEqual(rowsOf(stage.path("shared.db"), `PRAGMA ${pragma}`));
});

test("what is in the log of a database that was not closed counts; a journal is left alone", async () => {
  const writer = new DatabaseSync(stage.path("shared.db"));
  writer.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${TABLES}`);
  try {
    expect(statSync(stage.path("shared.db-wal")).size).toBeGreaterThan(0);
    // SQLite removes the file that the end of a journal names.
    writeFileSync(stage.path("shared.db-journal"), `${"\0".repeat(512)}${stage.path("named")}`);
    writeFileSync(stage.path("named"), "stays");
    expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "imported", rows: 6 });
    expect(existsSync(stage.path("named"))).toBe(true);
  } finally {
    writer.close();
  }
});

test("a session that is not there, a database without its table, and an empty file are not found", async () => {
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "not-found" });
  shared();
  expect(await stage.import(source({ root: { table: "session", column: "id", value: "s9" } }), PARTS)).toMatchObject({ kind: "not-found" });
  expect(await stage.import(source({ root: { table: "none", column: "id", value: "s1" } }), PARTS)).toMatchObject({ kind: "not-found" });
  writeFileSync(stage.path("empty.db"), "");
  expect(await stage.import(source({ path: stage.path("empty.db") }), PARTS)).toMatchObject({ kind: "not-found" });
});

test("of several databases the one with the session is taken, whatever is in the others", async () => {
  makeDatabase(stage.path("many/a/shared.db"), "CREATE TABLE other (id)");
  makeDatabase(stage.path("many/c/shared.db"), TABLES);
  makeDatabase(stage.path("many/b/shared.db"), "CREATE VIEW session AS SELECT 's1' AS id");
  expect(await stage.import(source({ path: stage.path("many/*/shared.db") }), PARTS)).toMatchObject({
    kind: "imported",
    from: stage.path("many/c/shared.db"),
  });
});

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

test.each<[string, string, RegExp]>([
  ["a trigger", `CREATE TRIGGER t AFTER INSERT ON secret BEGIN DELETE FROM session; END`, /trigger/],
  [
    "a view in the place of a table",
    `ALTER TABLE message RENAME TO m; CREATE VIEW message AS SELECT (${ENDLESS}) AS id, 's1' AS session_id`,
    /view/,
  ],
  ["a generated column", `ALTER TABLE session ADD COLUMN g AS (hex(zeroblob(1000000000)))`, /computes|computed/],
  ["an index of an expression", `CREATE INDEX e ON secret (lower(value))`, /index "e"/],
  ["an index with a condition", `CREATE INDEX c ON secret (value) WHERE value > 'a'`, /index "c"/],
  ["an index in an order of its own", `CREATE INDEX o ON secret (value COLLATE NOCASE)`, /index "o"/],
  ["a check", `CREATE TABLE k (v CHECK (v > 1))`, /computes/],
  ["a default that is computed", `CREATE TABLE k (v DEFAULT (random()))`, /default/],
  ["a virtual table", `CREATE VIRTUAL TABLE k USING fts5(v)`, /computes|usual name/],
  ["a name with quotes", `CREATE TABLE "k""; DROP TABLE session; --" (v)`, /usual name/],
  ["a type with more than a type", `CREATE TABLE k (v "text) ; --")`, /usual type/],
])("a database with %s is refused for good", async (_, statement, reason) => {
  shared(statement);
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "unfit", reason: expect.stringMatching(reason) });
});

test.each<[string, (file: string) => void]>([
  ["no database", (file) => writeFileSync(file, "anything".repeat(1000))],
  ["a database that is cut", (file) => truncateSync(file, 4096 + 512)],
  ["a database with other bytes in it", (file) => appendBytes(file)],
])("%s is refused for good", async (_, spoil) => {
  shared();
  spoil(stage.path("shared.db"));
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "unfit", reason: expect.stringContaining(stage.path("shared.db")) });
});

/** All pages but the first are not what their tables need. */
function appendBytes(file: string): void {
  const { size } = statSync(file);
  truncateSync(file, 4096);
  appendFileSync(file, Buffer.alloc(size - 4096, 0xee));
}

test("a schema that was edited to lead from one table to another's pages is read as what it is, or refused", async () => {
  shared(
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'secret') WHERE name = 'message'",
  );
  const answer = await stage.import(source(), PARTS);
  expect(["imported", "unfit"]).toContain(answer?.kind);
  if (answer?.kind === "imported") expect(rowsOf(join(stage.restore(PARTS).home, "own.db"), "SELECT * FROM message")).toEqual([]);
});

test("a session or a database of more bytes than are allowed is refused for good", async () => {
  shared("INSERT INTO message VALUES (4, 's1', zeroblob(100000))");
  expect(await stage.import(source(), PARTS, { maxBytes: 50_000 })).toMatchObject({
    kind: "unfit",
    reason: expect.stringContaining("50000 bytes"),
  });
  expect(await stage.import(source(), PARTS, { maxDatabaseBytes: 4096 })).toMatchObject({
    kind: "unfit",
    reason: expect.stringContaining("4096"),
  });
});

test("of any number of rows with the session's id one is read to know it by, and all of them count", async () => {
  makeDatabase(
    stage.path("shared.db"),
    "CREATE TABLE session (id TEXT, project_id TEXT, junk BLOB)",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO session SELECT 's1', 'p1', zeroblob(1000000) FROM n",
  );
  const answer = await stage.import(source(), PARTS, { maxBytes: 5_000_000 });
  expect(answer).toMatchObject({ kind: "unfit", reason: expect.stringContaining("5000000 bytes") });
});

test("an index may have any name that SQLite allows in it", async () => {
  shared(`CREATE INDEX "a\\b""c" ON secret (value)`);
  expect(await stage.import(source(), PARTS)).toMatchObject({ kind: "unfit", reason: expect.stringMatching(/usual name/) });
});

test("rows that refer to another session's are left out", async () => {
  shared(
    "CREATE TABLE part (id TEXT PRIMARY KEY, message_id INTEGER REFERENCES message(id), session_id TEXT)",
    "INSERT INTO part VALUES ('a', 3, 's1'), ('b', 2, 's1')",
  );
  const [only] = source() as [RowImport];
  expect(await stage.import([{ ...only, rows: [...only.rows, { table: "part", column: "session_id" }] }], PARTS)).toMatchObject({
    kind: "imported",
  });
  expect(rowsOf(join(stage.restore(PARTS).home, "own.db"), "SELECT id FROM part")).toEqual([{ id: "a" }]);
});

/** An inner page of a table of 4096 bytes a page: cells that all lead to one page. */
function innerPage(child: number): Buffer {
  const [page, cells] = [Buffer.alloc(4096), 400];
  page[0] = 5;
  page.writeUInt16BE(cells, 3);
  page.writeUInt16BE(4096 - cells * 5, 5);
  page.writeUInt32BE(child, 8);
  for (let cell = 0; cell < cells; cell++) {
    const at = 4096 - (cell + 1) * 5;
    page.writeUInt16BE(at, 12 + cell * 2);
    page.writeUInt32BE(child, at);
    page[at + 4] = 1;
  }
  return page;
}

test("a table whose pages lead to each other again and again is given up, and its process ended", async () => {
  const file = stage.path("shared.db");
  shared(
    "CREATE TABLE deep (session_id TEXT)",
    "INSERT INTO deep VALUES ('s2')",
    "CREATE TABLE room (x)",
    "INSERT INTO room VALUES (zeroblob(60000))",
  );
  const rootOf = (name: string): number => Number(rowsOf(file, `SELECT rootpage AS n FROM sqlite_schema WHERE name = '${name}'`)[0]?.n);
  const pages = readFileSync(file);
  const [root, room] = [rootOf("deep"), rootOf("room")];
  const chain = [root, ...Array.from({ length: 8 }, (_, index) => room + 1 + index)];
  const leaf = room + 10;
  pages.copy(pages, (leaf - 1) * 4096, (root - 1) * 4096, root * 4096);
  for (const [index, page] of chain.entries()) innerPage(chain[index + 1] ?? leaf).copy(pages, (page - 1) * 4096);
  writeFileSync(file, pages);
  const [only] = source() as [RowImport];
  const pids: number[] = [];
  const options = { stallMs: 4000, onProcess: (pid: number) => void pids.push(pid) };
  const answer = await stage.import([{ ...only, rows: [{ table: "deep", column: "session_id" }] }], PARTS, {}, options);
  expect(answer).toMatchObject({ kind: "stalled", reason: expect.stringContaining("no progress for 4 s") });
  await until(() => pids.every((pid) => !isAlive(pid)));
});
