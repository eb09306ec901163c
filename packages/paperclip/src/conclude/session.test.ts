import type { Evidence } from "@paperclip-k8s/engine";
import { expect, test } from "vitest";
import type { RunInputs } from "../prepare/attempt.ts";
import { exampleAttempt, exampleInputs, exampleResult, exited } from "../testing/example-attempt.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { hostContext } from "../testing/host-context.ts";
import { type KeptSession, keptSession, lostSession, sessionLeft } from "./session.ts";

const old = { generation: "g0", at: "", bytes: 1, version: null };
const saved = { restored: null, restoreMs: 1, saved: true, last: old, saveMs: 1, error: null };
const failed = { ...saved, saved: false, error: "the volume is full" };
const killed = { ...failed, saveMs: null, error: null };

test.each<[string, { mode?: string | null; state?: Evidence["state"]; resumed?: boolean }, KeptSession]>([
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
])("%s: %j", (_, { mode = "portable", state = null, resumed = false }, kept) => {
  expect(keptSession(mode, state, resumed)).toBe(kept);
});

test("a session that is nowhere to be found is logged", () => {
  const cli = { ...exampleCli, state: { ...exampleCli.state, parts: [{ kind: "sqlite", path: ".local/cli.db" }] } } as RunInputs["cli"];
  const attempt = exampleAttempt({ inputs: exampleInputs({ cli, state: { mode: "portable" } as RunInputs["state"] }) });
  const lost = (state: Evidence["state"], sessionId: string | null = "ses_1") =>
    lostSession(exampleResult(exited(0), { attempt, report: { sessionId }, evidence: { state } }));
  expect(lost({ ...saved, last: null })).toBe(
    "session ses_1 is not kept: the CLI left nothing in ~/.local/cli.db; the next run of this task begins anew",
  );
  expect(lost(saved)).toBeNull();
  expect(lost({ ...saved, last: null }, null)).toBeNull();
  // The engine logs why it could not be saved.
  expect(lost({ ...failed, last: null })).toBeNull();
});

test("that a state was signed is noted when one was saved, and stays noted", () => {
  const marked = (evidence: Partial<Evidence>, sessionParams: Record<string, unknown> | null = null) => {
    const { ctx } = hostContext();
    const state = { mode: "portable" } as RunInputs["state"];
    const inputs = exampleInputs({ state, ctx: { ...ctx, runtime: { ...ctx.runtime, sessionParams } } });
    const sessionId = sessionParams === null ? null : "ses_2";
    return sessionLeft(exampleResult(exited(0), { attempt: exampleAttempt({ inputs, sessionId }), evidence })).params?.stateSigned;
  };
  expect(marked({ state: saved })).toBe(true);
  expect(marked({ state: saved, signed: false })).toBeUndefined();
  // Of a session that an earlier version left, and of which nothing new was saved, an unsigned state may still be the true one.
  const legacy = { sessionId: "ses_2" };
  expect(marked({ state: { ...saved, restored: old } }, legacy)).toBeUndefined();
  expect(marked({ state: killed }, legacy)).toBeUndefined();
  // No earlier version can have left a state of a session that this run began.
  expect(marked({ state: killed })).toBe(true);
  const noted = { sessionId: "ses_2", stateSigned: true };
  expect(marked({ state: killed }, noted)).toBe(true);
  // A pod of an earlier version has saved an unsigned one.
  expect(marked({ state: saved, signed: false }, noted)).toBeUndefined();
});
