import { appendFileSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { sign } from "../../../../packages/runner/src/mac.ts";
import { MARK } from "../orders.ts";
import { type Attacks, appends, wrote } from "./attack.ts";
import { ownSpec } from "./own-run.ts";

// The worst case: the operator lets pods mount the whole volume, and the attacker writes into the files of another run that is at work.
// `meta`: records of a run that must end as without attacks. `output…`: files of runs that may fail, but must not say what the attacker wants.

const MUST = "the other run goes on, and ends as it does without attacks";
const AT = "2026-01-01T00:00:00.000Z";

const END = {
  type: "end",
  at: AT,
  exitCode: 0,
  signal: null,
  cause: "exit",
  bytes: 0,
  written: 0,
  lines: 0,
  oomKills: null,
  peakMemoryBytes: null,
  memoryLimitBytes: null,
  error: null,
  stderrDropped: 0,
  leftoversEnded: false,
  cpuMs: null,
};
const NOTE = { type: "note", at: AT, text: MARK };
const STATE = { type: "state", at: AT, act: "saved", ms: 1, point: { generation: MARK, at: AT, bytes: 1, version: MARK } };

/** Signed with the key that the attacker has: its own run's. */
function signed(record: object): string {
  return sign(JSON.stringify({ ...record, seq: 1_000_000 }), Buffer.from(ownSpec().key ?? "", "base64url"));
}

const linesOf = (path: string | undefined): string[] =>
  readFileSync(path ?? "", "utf8")
    .split("\n")
    .filter((line) => line !== "");

const adding = (tries: string, lines: (aim: Readonly<Record<string, string>>) => readonly (string | Buffer)[]): Attacks[string] => ({
  tries: `adds ${tries} to another run's records`,
  must: MUST,
  attack: (aim) => appends(aim.meta, ...lines(aim)),
});

const OR_FAILS = "the other run fails and says why, or ends as without attacks; it never says what the attacker wrote";
const FINAL = `${JSON.stringify({ type: "final", session: MARK, cost: 1e6, text: MARK })}\n`;

export const otherRecords: Attacks = {
  "records/end": adding("an end record without a signature", () => [JSON.stringify(END)]),
  "records/end-own-key": adding("an end record that is signed with the attacker's key", () => [signed(END)]),
  "records/end-empty-mac": adding("an end record with an empty signature", () => [JSON.stringify({ ...END, seq: 99, mac: "" })]),
  "records/start-end": adding("a new start, with the run's own ids, and an end", ({ run = "" }) => [
    JSON.stringify({ type: "start", at: AT, run, nonce: "x", pod: "p", runtime: "r" }),
    JSON.stringify(END),
  ]),
  "records/note": adding("a note without a signature", () => [JSON.stringify(NOTE)]),
  "records/note-own-key": adding("a note that is signed with the attacker's key", () => [signed(NOTE)]),
  "records/state": adding("a record of a saved session", () => [JSON.stringify(STATE), signed(STATE)]),
  "records/stderr": adding("stderr", () => [JSON.stringify({ type: "stderr", at: AT, text: `${MARK}\n` })]),
  "records/replay": adding("copies of the run's own lines", ({ meta }) => linesOf(meta)),
  "records/reorder": adding("the run's own lines in the other order", ({ meta }) => linesOf(meta).reverse()),
  "records/changed": adding("the run's own last line with another number in it", ({ meta }) => [
    (linesOf(meta).at(-1) ?? "").replace(/"seq":\d+/, '"seq":500'),
  ]),
  "records/huge": adding("a line of 8 MiB", () => [Buffer.alloc(8 * 1024 * 1024, 0x7b)]),
  "records/deep": adding("JSON that is nested 100,000 times", () => [`${"[".repeat(100_000)}${"]".repeat(100_000)}`]),
  "records/binary": adding("bytes that are no text", () => [Buffer.alloc(4096, 0), Buffer.alloc(4096, 0xff)]),
  "records/half-line": {
    tries: "adds half a line, so that the run's next record stands behind it",
    must: "the run's end is read from its termination message",
    attack: ({ metaHalf }) => {
      appendFileSync(metaHalf ?? "", '{"type":"note","text":"');
      return wrote("half a line");
    },
  },
  "records/emptied": {
    tries: "empties another run's file of records",
    must: "the run's end is read from its termination message",
    attack: ({ metaEmptied }) => {
      truncateSync(metaEmptied ?? "", 0);
      return wrote("0 bytes");
    },
  },
  "records/output-added": {
    tries: "adds a final line with another session and cost to another run's output",
    must: OR_FAILS,
    attack: ({ outputAdded }) => {
      appendFileSync(outputAdded ?? "", FINAL);
      return wrote("a line");
    },
  },
  "records/output-replaced": {
    tries: "puts an output of its own in the place of another run's",
    must: OR_FAILS,
    attack: ({ outputReplaced = "" }) => {
      writeFileSync(`${outputReplaced}.new`, FINAL);
      renameSync(`${outputReplaced}.new`, outputReplaced);
      return wrote("a file");
    },
  },
  "records/output-emptied": {
    tries: "empties another run's output",
    must: OR_FAILS,
    attack: ({ outputEmptied }) => {
      truncateSync(outputEmptied ?? "", 0);
      return wrote("0 bytes");
    },
  },
};
