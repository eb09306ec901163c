import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

// Makes a long session of a short one that the real CLI has left: its messages again and again, with new ids and some kilobytes of text each.

const TEXT = "a line of output that a tool may have given, or a model have said\n".repeat(45);

export const growSession = (home: string, messages: number): void =>
  growDatabase(join(home, ".local/share/opencode/opencode.db"), messages);

interface Rows {
  readonly id: string;
  readonly message_id?: string;
  readonly session_id: string;
  readonly time_created: number;
  readonly time_updated: number;
  readonly data: string;
}

function growDatabase(file: string, wanted: number): void {
  const db = new DatabaseSync(file);
  const messages = db.prepare("SELECT * FROM message ORDER BY id").all() as unknown as Rows[];
  const parts = db.prepare("SELECT * FROM part ORDER BY id").all() as unknown as Rows[];
  const addMessage = db.prepare("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)");
  const addPart = db.prepare("INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?, ?)");
  db.exec("BEGIN");
  for (let round = 1; round * messages.length < wanted; round++) {
    for (const row of messages)
      addMessage.run(later(row.id, round), row.session_id, row.time_created + round, row.time_updated + round, laterIds(row.data, round));
    for (const row of parts) {
      const owner = later(row.message_id ?? "", round);
      addPart.run(later(row.id, round), owner, row.session_id, row.time_created + round, row.time_updated + round, longer(row.data));
    }
  }
  db.exec("COMMIT");
  db.close();
}

/** An id begins with its time in twelve hexadecimal digits: it sorts behind those of the rounds before. */
const later = (id: string, round: number): string =>
  id.replace(/_([0-9a-f]{12})/, (_, time: string) => `_${(Number.parseInt(time, 16) + round * 2 ** 24).toString(16).padStart(12, "0")}`);
const laterIds = (data: string, round: number): string => data.replace(/msg_[0-9a-f]{12}/g, (id) => later(id, round));
const longer = (data: string): string => data.replace(/"(text|output)":"/, (found) => found + JSON.stringify(TEXT).slice(1, -1));
