import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ImportStage, importStage, makeDatabase, rowsOf } from "../../../engine/src/import/testing/import-fixture.ts";
import { opencode } from "../agent-cli.ts";
import { DATABASE, earlierDatabases } from "./earlier-sessions.ts";

// A database that OpenCode 1.18.33 made in a home that two agents shared.
const SQL = readFileSync(new URL("../../testing/earlier-database.sql", import.meta.url), "utf8");
const [OWN, OTHER] = ["ses_e1a0db60cffeZjnHHik3JEeSkd", "ses_e19fcaa21ffe84I9cfMUNhSyjM"] as const;
const PARTS = opencode.state?.parts ?? [];

let stage: ImportStage;
beforeEach(() => {
  stage = importStage();
});
afterEach(() => stage.end());

let notes: string[] = [];
beforeEach(() => {
  notes = [];
});

const session = (sessionId: string, env = {}) => ({
  ...{ sessionId, cwd: "/today", madeIn: "/paperclip/work", dataPath: stage.root, volume: stage.root },
  ...{ companyId: "company-1", agentId: "agent-1", taskKey: "Issue:1", env, serverEnv: {}, note: (text: string) => notes.push(text) },
});

test("of a database that agents shared, one session gets a database of its own, with all that says which form it has", async () => {
  const shared = stage.path(DATABASE);
  makeDatabase(shared, SQL);
  expect(await stage.import(earlierDatabases(session(OWN)), PARTS)).toMatchObject({ kind: "imported", from: shared });
  const own = join(stage.restore(PARTS).home, DATABASE);
  const count = (file: string, sql: string) => rowsOf(file, sql)[0];
  expect(rowsOf(own, "SELECT id, directory FROM session")).toEqual([{ id: OWN, directory: "/today" }]);
  for (const [table, column] of Object.entries({ message: "session_id", part: "session_id", event: "aggregate_id" })) {
    const wanted = count(shared, `SELECT count(*) AS n FROM ${table} WHERE ${column} = '${OWN}'`);
    expect(count(own, `SELECT count(*) AS n FROM ${table}`), table).toEqual(wanted);
  }
  expect(count(own, "SELECT count(*) AS n FROM migration")).toEqual(count(shared, "SELECT count(*) AS n FROM migration"));
  const schema = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
  expect(rowsOf(own, schema)).toEqual(rowsOf(shared, schema));
  expect(rowsOf(own, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  const bytes = readFileSync(own, "latin1");
  for (const foreign of [OTHER, "other-agents-word", "/paperclip/other"]) expect(bytes).not.toContain(foreign);
});

test("parents that lead in a circle, or to another agent's session, bring nothing else", async () => {
  makeDatabase(stage.path(DATABASE), SQL, `UPDATE session SET parent_id = CASE id WHEN '${OWN}' THEN '${OTHER}' ELSE '${OWN}' END`);
  expect(await stage.import(earlierDatabases(session(OWN)), PARTS)).toMatchObject({ kind: "imported" });
  expect(rowsOf(join(stage.restore(PARTS).home, DATABASE), "SELECT id, parent_id FROM session")).toEqual([{ id: OWN, parent_id: null }]);
});

test("the database of a task's own folder, of an isolated workspace, and one that the agent names are looked into before the shared one", () => {
  const named = stage.path(".opencode-db/company-1/agent-1/mine.db");
  expect(earlierDatabases(session(OWN, { OPENCODE_DB: named })).map(({ path }) => path)).toEqual([
    named,
    stage.path(".opencode-db/company-1/agent-1/issue_1/opencode.db"),
    stage.path(".opencode-db/company-1/agent-1/isolation/*/opencode.db"),
    stage.path(DATABASE),
  ]);
});

test("a database that the agent names is looked into only where no pod writes today", () => {
  const usual = earlierDatabases(session(OWN)).length;
  const names = [
    "work/mine.db",
    ".opencode-db/company-1/other/mine.db",
    ".opencode-db/company-1/agent-1/*/x.db",
    ".opencode-db/../work/x.db",
  ];
  for (const name of [...names.map((each) => `${stage.root}/${each}`), "/elsewhere/x.db", ":memory:"]) {
    notes = [];
    expect(earlierDatabases(session(OWN, { OPENCODE_DB: name })), name).toHaveLength(usual);
    expect(notes, name).toEqual([expect.stringContaining("OPENCODE_DB is not looked into")]);
  }
  notes = [];
  expect(earlierDatabases(session(OWN, { OPENCODE_DB: stage.path(".local/share/opencode/mine.db") }))).toHaveLength(usual + 1);
  expect(notes).toEqual([]);
});

test("an id that is none of OpenCode's is not looked for", () => {
  for (const id of ["ses_", "0b8a5b0e-0000-4000-8000-000000000000", "ses_1' OR '1", "../ses_1"])
    expect(earlierDatabases(session(id))).toEqual([]);
});
