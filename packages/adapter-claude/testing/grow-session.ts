import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Makes a long session of a short one that the real CLI has left: its messages again and again, with new ids and some kilobytes of text each.

const TEXT = "a line of output that a tool may have given, or a model have said\n".repeat(45);

export function growSession(home: string, messages: number): void {
  for (const file of transcripts(join(home, ".claude/projects"))) growTranscript(file, messages);
}

const transcripts = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => (name.endsWith(".jsonl") ? [join(folder, name)] : []));

type Line = Record<string, unknown> & { uuid?: string; parentUuid?: string | null; type?: string };

/** Each line of a conversation names its parent, so that the last one leads back to the first. */
function growTranscript(file: string, wanted: number): void {
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as Line);
  const turns = lines.filter(({ type }) => type === "user" || type === "assistant");
  let last = lines.findLast(({ uuid }) => uuid !== undefined)?.uuid ?? null;
  for (let round = 1; round * turns.length < wanted; round++)
    for (const turn of turns) {
      const uuid = randomUUID();
      const text = JSON.stringify(turn).replace(/toolu_\w+/g, (id) => `${id}_${round}`);
      const copy = JSON.parse(text.replace(/("text"|"content"):"/, (found) => found + JSON.stringify(TEXT).slice(1, -1))) as Line;
      lines.push({ ...copy, uuid, parentUuid: last });
      last = uuid;
    }
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
