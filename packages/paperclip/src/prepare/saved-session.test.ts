import type { RunOutcome } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { Ending } from "../conclude/failure.ts";
import type { Turn } from "./attempt.ts";
import { type KeptSession, keptSession, lostSession, type SessionFacts } from "./saved-session.ts";

const old = { generation: "g0", at: "", bytes: 1, version: null };
const saved = { restored: null, restoreMs: 1, saved: true, last: old, saveMs: 1, error: null };
const failed = { ...saved, saved: false, error: "the volume is full" };
const killed = { ...failed, saveMs: null, error: null };

test.each<[string, Partial<SessionFacts>, KeptSession]>([
  ["it goes with its pod", { mode: "ephemeral", state: saved }, "no"],
  ["on a claim of the agent's own", { mode: "dedicated_pvc" }, "yes"],
  ["in a place of the agent's own", { mode: "own" }, "yes"],
  ["saved", { state: saved }, "yes"],
  ["saved, by a Job that does not say where", { mode: null, state: saved }, "yes"],
  ["the CLI left nothing", { state: { ...saved, last: null } }, "no"],
  ["resumed, and the volume took no more", { state: failed, resumed: true }, "yes"],
  ["resumed, and killed hard", { state: killed, resumed: true }, "yes"],
  ["resumed, and killed before it was restored", { state: null, resumed: true }, "yes"],
  ["fresh, beside an older save, and the volume took no more", { state: failed }, "maybe"],
  ["fresh, beside an older save, and killed hard", { state: killed }, "maybe"],
  ["fresh, killed hard before any save", { state: { ...killed, last: null } }, "maybe"],
  ["fresh, and the volume took nothing", { state: { ...failed, last: null } }, "no"],
  ["nothing is known", { state: null }, "maybe"],
])("%s: %j", (_, facts, kept) => {
  expect(keptSession({ mode: "portable", state: null, resumed: false, ...facts })).toBe(kept);
});

test("a session that is nowhere to be found is told of", () => {
  const turn = { cli: { state: { parts: [{ kind: "sqlite", path: ".local/cli.db" }] } }, state: { mode: "portable" } } as unknown as Turn;
  const ending = (state: object | null, sessionId: string | null = "ses_1") =>
    ({ report: { sessionId }, outcome: { evidence: { state } } as unknown as RunOutcome }) as unknown as Ending;
  expect(lostSession(turn, ending({ ...saved, last: null }))).toBe(
    "session ses_1 is not kept: the CLI left nothing in ~/.local/cli.db; the next run of this task begins anew",
  );
  expect(lostSession(turn, ending(saved))).toBeNull();
  expect(lostSession(turn, ending({ ...saved, last: null }, null))).toBeNull();
  // Said by others: why it could not be saved.
  expect(lostSession(turn, ending({ ...failed, last: null }))).toBeNull();
});
