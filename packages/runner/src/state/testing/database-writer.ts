// A program that keeps a SQLite database busy as an agent CLI would, and what must hold for every copy of it. For tests.
import { DatabaseSync } from "node:sqlite";

/** Adds messages in transactions of three until asked to stop or `count` are in; says how many it has committed. */
export const writerScript = `
const { DatabaseSync } = require("node:sqlite");
const [file, count, bytes, pauseMs] = process.argv.slice(1);
const db = new DatabaseSync(file);
db.exec("PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 100; CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, turn INTEGER, body TEXT)");
const add = db.prepare("INSERT INTO message VALUES (?, ?, ?)");
let at = db.prepare("SELECT count(*) AS n FROM message").get().n;
let worst = 0;
process.on("SIGTERM", () => { process.stdout.write("worst " + worst.toFixed(0) + "\\n"); process.exit(0); });
const step = () => {
  const began = performance.now();
  db.exec("BEGIN IMMEDIATE");
  for (let i = 0; i < 3; i++) { add.run("m" + at, Math.floor(at / 3), String(at % 10).repeat(Number(bytes))); at++; }
  db.exec("COMMIT");
  worst = Math.max(worst, performance.now() - began);
  if (at <= 3 || at % 300 === 0) process.stdout.write("at " + at + "\\n");
  if (at < Number(count)) setTimeout(step, Number(pauseMs)); else process.stdout.write("worst " + worst.toFixed(0) + "\\n");
};
step();`;

export interface DatabaseCheck {
  readonly integrity: string;
  readonly messages: number;
  /** Turns of which not all three messages are there. */
  readonly tornTurns: number;
}

export function checkDatabase(file: string): DatabaseCheck {
  const database = new DatabaseSync(file);
  try {
    const number = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
    const integrity = String(Object.values(database.prepare("PRAGMA integrity_check").get() ?? {})[0]);
    const messages = number("SELECT count(*) FROM message");
    return { integrity, messages, tornTurns: number("SELECT count(*) FROM (SELECT turn FROM message GROUP BY turn HAVING count(*) <> 3)") };
  } finally {
    database.close();
  }
}
