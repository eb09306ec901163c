import { expect, test } from "vitest";
import { faultOf } from "./child/databases.ts";

const sqliteError = (errcode: number): Error => Object.assign(new Error("text"), { code: "ERR_SQLITE_ERROR", errcode });

test.each([
  ["BUSY", 5, "stalled"],
  ["LOCKED", 6, "stalled"],
  ["NOMEM", 7, "stalled"],
  ["IOERR", 10, "stalled"],
  ["IOERR_READ", 266, "stalled"],
  ["CANTOPEN", 14, "stalled"],
  ["PROTOCOL", 15, "stalled"],
  ["FULL", 13, "blocked"],
  ["ERROR", 1, "unfit"],
  ["CORRUPT", 11, "unfit"],
  ["CORRUPT_INDEX", 779, "unfit"],
  ["NOTADB", 26, "unfit"],
])("SQLite's %s (%i) is %s", (_, errcode, kind) => {
  expect(faultOf(sqliteError(errcode), "/data/db")).toMatchObject({ kind, message: expect.stringContaining("/data/db: ") });
});
