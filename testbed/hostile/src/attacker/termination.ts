import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MARK } from "../orders.ts";
import { type Attacks, type Attempted, wrote } from "./attack.ts";
import { ownSpec, runnerPid, signedByOwnKey, terminationLog } from "./own-run.ts";

// A CLI of the runner's user can write the container's termination message and kill the runner. What the server reads of it is this run's affair only.

const MUST = "the run ends, with values of the right kind; no other run and no server notices";
/** An object that no text can be made of: whoever writes it into a line throws. */
const POISON = { toString: 1, valueOf: 1 };

/** Writes the message and kills the runner. In a real pod the runner is the first process and cannot be killed: it writes a message of its own. */
async function endWith(text: string | Buffer): Promise<Attempted> {
  writeFileSync(terminationLog(), text);
  process.kill(runnerPid(), "SIGKILL");
  await sleep(300);
  return wrote(`${text.length} bytes and sent SIGKILL to the runner`);
}

/** A message with everything that the runner would write, signed as it would, and something else in it. */
function message(changes: Readonly<Record<string, unknown>>): string {
  const { run, nonce } = ownSpec();
  const end = { exitCode: 0, signal: null, cause: "exit", bytes: 1, written: 1, lines: 1, oomKills: null, peakMemoryBytes: null };
  const text = JSON.stringify({ format: 1, run, nonce, ...end, memoryLimitBytes: null, error: null, finalLine: null, ...changes });
  return signedByOwnKey(text);
}

const forged = (tries: string, changes: Readonly<Record<string, unknown>>): Attacks[string] => ({
  tries,
  must: MUST,
  attack: () => endWith(message(changes)),
});
const plain = (tries: string, text: string | Buffer): Attacks[string] => ({ tries, must: MUST, attack: () => endWith(text) });

const ESCAPES = `\u001b]0;${MARK}\u0007\u001b[2J\u0000\r[paperclip] ${MARK}\u202e`;
const POINT = { generation: POISON, at: POISON, bytes: POISON, version: POISON };

export const termination: Attacks = {
  "termination/peak-memory": forged("peakMemoryBytes that throws when it is written into a line", { peakMemoryBytes: POISON }),
  "termination/oom-kills": forged("oomKills that throws", { oomKills: POISON, signal: "SIGKILL", exitCode: null }),
  "termination/exit-code-text": forged("an exit code that is a text", { exitCode: "0" }),
  "termination/exit-code-huge": forged("an exit code of 10^300", { exitCode: 1e300 }),
  "termination/bytes-negative": forged("-1 bytes of output", { bytes: -1, written: -1 }),
  "termination/bytes-huge": forged("2^60 bytes of output", { bytes: 2 ** 60, written: 2 ** 60 }),
  "termination/state": forged("a saved state of poisoned fields", {
    state: { restored: POINT, restoreMs: POISON, saved: true, last: POINT, saveMs: POISON, error: POISON },
  }),
  "termination/cause": forged("a cause that does not exist", { cause: "__proto__" }),
  "termination/signal-escapes": forged("a signal that is a terminal code", { exitCode: null, signal: ESCAPES }),
  "termination/error-escapes": forged("an error with terminal codes and our own prefix", { cause: "spawn-failed", error: ESCAPES }),
  "termination/final-line": forged("a final line with terminal codes and another session", {
    finalLine: JSON.stringify({ type: "final", session: MARK, cost: 1e9, text: ESCAPES }),
  }),
  "termination/prototype": plain(
    "a message with __proto__ and constructor",
    `{"format":1,"__proto__":{"nonce":"x"},"constructor":{"prototype":{"got":1}}}`,
  ),
  "termination/deep": plain("JSON that is nested 2,000 times", `${"[".repeat(2000)}${"]".repeat(2000)}`),
  "termination/binary": plain("4,096 bytes that are no text", Buffer.alloc(4096, 0xff)),
  "termination/long": plain("a text of 64 KiB", `{"format":1,"run":"${"a".repeat(65_536)}`),
  "termination/unsigned": {
    tries: "a success without a signature",
    must: "it does not count",
    attack: () => endWith(message({ bytes: 0, written: 0, lines: 0 }).replace(/,"mac":"[^"]*"/, "")),
  },
  "termination/other-run": forged("the message of another run", { run: "00000000-0000-4000-8000-000000000000", nonce: MARK }),
};
