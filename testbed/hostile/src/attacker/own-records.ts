import { readFileSync } from "node:fs";
import { MARK } from "../orders.ts";
import { type Attacks, type Attempted, appends } from "./attack.ts";
import { ownSpec, signedByOwnKey } from "./own-run.ts";

// An agent can add lines to its own run's records. None may leave the run pending, silent or deaf to a cancel, or throw in the server.

const MUST = "what follows it is read, a cancel is heard";
const POISON = `{"toString":1,"valueOf":1}`;
const AT = `"at":"2026-01-01T00:00:00.000Z"`;

/** The next number of this run's records, so that the runner's own lines after it still count. */
function nextNumber(): number {
  const numbers = [...readFileSync(ownSpec().files.meta, "utf8").matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq));
  return Math.max(0, ...numbers) + 1;
}

/** Without a signature, and signed with the run's own key, which the CLI's user can read. */
const bothWays = (line: string | Buffer): (string | Buffer)[] =>
  typeof line === "string" && /^{.*}$/s.test(line) ? [line, signedByOwnKey(`${line.slice(0, -1)},"seq":${nextNumber()}}`)] : [line];

const forge = (...lines: readonly (string | Buffer)[]): Attempted => appends(ownSpec().files.meta, ...lines);

const forging = (tries: string, lines: () => readonly (string | Buffer)[]): Attacks[string] => ({
  tries,
  must: MUST,
  attack: () => forge(...lines()),
});
const one = (tries: string, line: string): Attacks[string] => forging(tries, () => bothWays(line));
const unsigned = (tries: string, line: string): Attacks[string] => forging(tries, () => [line]);

const state = (point: string): string => `{"type":"state",${AT},"act":"restored","ms":1,"point":${point}}`;
const start = (): string => `{"type":"start",${AT},"run":"${ownSpec().run}","nonce":"${ownSpec().nonce}","pod":"p","runtime":"r"}`;

const END = `{"type":"end",${AT},"exitCode":0,"signal":null,"cause":"exit","bytes":0,"written":0,"lines":0,"error":null,"seq":1000000}`;

export const ownRecords: Attacks = {
  "own-records/state-poison": one(
    "a restored state whose time throws when it is shown",
    state(`{"at":${POISON},"version":"1","bytes":1,"generation":1}`),
  ),
  "own-records/end-poison": one(
    "an end record with poisoned figures",
    `{"type":"end",${AT},"exitCode":${POISON},"signal":${POISON},"cause":"exit","bytes":${POISON},"written":1,"state":{"saved":true,"last":{"bytes":${POISON}}}}`,
  ),
  "own-records/note-poison": one("a note whose text is an object", `{"type":"note",${AT},"text":${POISON}}`),
  "own-records/note-escapes": unsigned(
    "an unsigned note with terminal codes and our own prefix",
    `{"type":"note",${AT},"text":"\\u001b[2J\\r[paperclip] ${MARK}\\u0000\\u202e"}`,
  ),
  "own-records/stderr-prefix": one(
    "a stderr record with lines of our own prefix",
    `{"type":"stderr",${AT},"text":"x\\n[paperclip] ${MARK}\\n"}`,
  ),
  "own-records/cli-started": one("a start of the CLI as process -1", `{"type":"cli-started",${AT},"pid":-1}`),
  "own-records/second-start": forging("a second start record, as the runner's", () => bothWays(start())),
  "own-records/other-start": one("a start record of another run", `{"type":"start",${AT},"run":"x","nonce":"y","pod":"p","runtime":"r"}`),
  "own-records/deep": one("JSON that is nested 100,000 times", `${'{"type":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  "own-records/huge-line": forging("a line of 8 MiB", () => [Buffer.alloc(8 * 1024 * 1024, 0x61)]),
  "own-records/binary": forging("64 KiB that are no text, with NULs", () => [Buffer.alloc(65_536, 0), Buffer.alloc(65_536, 0xfe)]),
  "own-records/many": forging("50,000 records that mean nothing", () => Array.from({ length: 500 }, () => `${"{}\n".repeat(99)}{}`)),
  "own-records/prototype": one("a record of the type __proto__", `{"type":"__proto__",${AT},"text":"${MARK}"}`),
  "own-records/note-signed": {
    tries: "a note with terminal codes, signed with its own key",
    must: "it stands in its own log at most, without the codes",
    attack: () => forge(signedByOwnKey(JSON.stringify({ type: "note", at: "x", text: `\u001b[2J\r${MARK}\u0000`, seq: nextNumber() }))),
  },
  "own-records/last-number": {
    tries: "a note with the largest number there is, so that no later record counts",
    must: "a cancel is heard",
    attack: () => appends(ownSpec().files.meta, signedByOwnKey(`{"type":"note","at":"x","text":"x","seq":${Number.MAX_SAFE_INTEGER}}`)),
  },
  "own-records/end-signed": {
    tries: "an end with exit code 0 while it goes on, signed with its own key",
    must: "its own run is over; its pod is ended",
    attack: () => appends(ownSpec().files.meta, signedByOwnKey(END)),
  },
};
