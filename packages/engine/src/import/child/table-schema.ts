// The tables of a database that anybody may have written. Its own SQL is never run: each table is described anew from what SQLite says of it,
// and a database with anything in it that computes (views, triggers, generated columns, indexes of expressions) is refused.
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { ImportFault } from "./fault.ts";
import { rowSize } from "./row-size.ts";

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Statements that make the same table, and its indexes. */
  readonly create: readonly string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const TYPE = /^[A-Za-z ]{0,30}(\(\d{1,5}(,\d{1,5})?\))?$/;
const LITERAL = /^(null|[-+]?\d+(\.\d+)?|'([^'\0]|'')*'|true|false|current_(timestamp|date|time))$/i;
const ACTIONS = ["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"];
const COMPUTED = /\b(check|generated|always)\b\s*\(?/i;
const MOST = 200;
/** Of what describes them. */
const MOST_BYTES = 4 * 1024 * 1024;

type Row = Readonly<Record<string, SQLOutputValue>>;

export const quoted = (name: unknown): string => `"${checkedName(name)}"`;

export function readTables(db: DatabaseSync): Table[] {
  const objects = all(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema");
  for (const { type, name, sql } of objects) {
    if (type !== "table" && type !== "index") throw refused(`it has a ${String(type)}, ${shown(name)}`);
    if (typeof sql === "string" && type === "table" && (/^\s*create\s+virtual/i.test(sql) || COMPUTED.test(withoutTexts(sql))))
      throw refused(`its table ${shown(name)} computes something`);
  }
  const names = objects.flatMap(({ type, name }) => (type === "table" && !isSqlites(name) ? [checkedName(name)] : []));
  return names.map((name) => describe(db, name));
}

function describe(db: DatabaseSync, name: string): Table {
  const columns = all(db, `PRAGMA table_xinfo(${quoted(name)})`);
  if (columns.length === 0 || columns.some(({ hidden }) => hidden !== 0n)) throw refused(`table ${name} has columns that are computed`);
  const key = columns.filter(({ pk }) => pk !== 0n).sort((a, b) => Number(a.pk) - Number(b.pk));
  const parts = [
    ...columns.map((column) => columnOf(column, key.length === 1 && key[0] === column)),
    ...(key.length > 1 ? [`PRIMARY KEY (${key.map((column) => quoted(column.name)).join(", ")})`] : []),
    ...foreignKeys(db, name),
  ];
  const create = [`CREATE TABLE ${quoted(name)} (${parts.join(", ")})`, ...indexes(db, name)];
  return { name, columns: columns.map((column) => checkedName(column.name)), create };
}

function columnOf({ name, type, notnull, dflt_value: value }: Row, isKey: boolean): string {
  if (typeof type !== "string" || !TYPE.test(type)) throw refused(`column ${shown(name)} has no usual type`);
  if (value !== null && !LITERAL.test(String(value))) throw refused(`column ${shown(name)} has a default that is computed`);
  return [
    quoted(name),
    type,
    ...(isKey ? ["PRIMARY KEY"] : []),
    ...(value === null ? [] : [`DEFAULT ${String(value)}`]),
    ...(notnull === 0n ? [] : ["NOT NULL"]),
  ].join(" ");
}

function foreignKeys(db: DatabaseSync, name: string): string[] {
  const rows = all(db, `PRAGMA foreign_key_list(${quoted(name)})`);
  const byKey = Map.groupBy(rows, ({ id }) => id);
  return [...byKey.values()].map((columns) => {
    const [{ table, on_update: onUpdate, on_delete: onDelete } = {}] = columns;
    const [from, to] = [columns.map((column) => quoted(column.from)), columns.flatMap(({ to }) => (to === null ? [] : [quoted(to)]))];
    const target = to.length === 0 ? quoted(table) : `${quoted(table)} (${to.join(", ")})`;
    return `FOREIGN KEY (${from.join(", ")}) REFERENCES ${target} ON UPDATE ${action(onUpdate)} ON DELETE ${action(onDelete)}`;
  });
}

function action(value: unknown): string {
  const found = ACTIONS.find((each) => each === value);
  if (found === undefined) throw refused(`it has a foreign key with ${shown(value)}`);
  return found;
}

/** Those that a primary key brings are made with it. */
function indexes(db: DatabaseSync, table: string): string[] {
  return all(db, `PRAGMA index_list(${quoted(table)})`).flatMap(({ name, unique, origin, partial }) => {
    if (origin === "pk") return [];
    if (partial !== 0n) throw refused(`its index ${shown(name)} has a condition`);
    const keys = all(db, "SELECT * FROM pragma_index_xinfo(?)", String(name)).filter(({ key }) => key !== 0n);
    if (keys.length === 0 || keys.some(({ cid, coll }) => Number(cid) < 0 || coll !== "BINARY"))
      throw refused(`its index ${shown(name)} computes something`);
    const columns = keys.map((column) => `${quoted(column.name)}${column.desc === 0n ? "" : " DESC"}`).join(", ");
    if (origin === "u")
      return [
        `CREATE UNIQUE INDEX ${quoted(`unique_${table}_${keys.map((column) => column.name).join("_")}`)} ON ${quoted(table)} (${columns})`,
      ];
    return [`CREATE ${unique === 0n ? "" : "UNIQUE "}INDEX ${quoted(name)} ON ${quoted(table)} (${columns})`];
  });
}

function all(db: DatabaseSync, sql: string, ...values: string[]): Row[] {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  const rows: Row[] = [];
  let bytes = 0;
  for (const row of statement.iterate(...values)) {
    bytes += rowSize(row);
    if (rows.push(row) > MOST || bytes > MOST_BYTES) throw refused(`it has more than ${MOST} tables, indexes or columns, or long ones`);
  }
  return rows;
}

function checkedName(name: unknown): string {
  if (typeof name !== "string" || !NAME.test(name)) throw refused(`${shown(name)} in it is no usual name`);
  return name;
}

const isSqlites = (name: unknown): boolean => typeof name === "string" && /^sqlite_/i.test(name);
/** Quoted names and texts may hold any word. */
const withoutTexts = (sql: string): string => sql.replace(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/g, "");
const shown = (value: unknown): string => JSON.stringify(String(value).slice(0, 60));
const refused = (reason: string): ImportFault => new ImportFault("unfit", reason);
