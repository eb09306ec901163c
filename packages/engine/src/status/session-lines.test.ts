import type { StateEnd, StatePoint, StateRecord } from "@paperclip-k8s/runner";
import { expect, test } from "vitest";
import type { Fact } from "../outcome/observation.ts";
import { reduce } from "../outcome/reduce.ts";
import { accepted, ended, endRecord, kindOf, play, pod, running, startRecord, timeouts } from "../outcome/testing/example-facts.ts";
import { createStatusLog } from "./status-lines.ts";

const point = (name: string, changes: Partial<StatePoint> = {}): StatePoint => ({
  generation: `${name}.tar`,
  at: `2026-01-01T00:00:0${name}.000Z`,
  bytes: 1_400_000,
  version: "1.0.0",
  ...changes,
});
const record = (act: StateRecord["act"], at: StatePoint | null): Fact => ({
  kind: "state-record",
  record: { type: "state", at: "", act, point: at, ms: 40 },
});
const stateEnd = (changes: Partial<StateEnd> = {}): StateEnd => ({
  restored: point("1"),
  restoreMs: 40,
  saved: true,
  last: point("3"),
  saveMs: 12,
  error: null,
  ...changes,
});
const end = (state: StateEnd): Fact => ({ kind: "end-record", record: endRecord({ bytes: 0, written: 0, state }) });
const begun: Fact[] = [
  { kind: "pod", pod: pod(running) },
  { kind: "start-record", record: startRecord },
];
const killed: Fact = { kind: "pod", pod: pod(ended(137, "Error")) };

/** What is said of the session while these facts come in. */
function story(facts: readonly Fact[]): string[] {
  const describe = createStatusLog();
  const lines: string[] = [];
  let state = accepted();
  let at = 10;
  const see = (fact: Fact) => {
    at += 250;
    const next = reduce(state, { at, ...fact }, timeouts);
    lines.push(...describe(state, next).map(({ level, text }) => `${level}: ${text}`));
    state = next;
  };
  for (const fact of [...begun, ...facts]) see(fact);
  for (let ticks = 0; ticks < 40 && state.outcome === null; ticks++) {
    see({ kind: "tick" });
    if (state.endedAt !== null) see({ kind: "drained", bytes: state.delivered });
  }
  return lines.filter((line) => line.includes("session"));
}

test("restored, then saved at the end; saves in between are not logged", () => {
  expect(story([record("restored", point("1")), record("saved", point("2")), end(stateEnd())])).toEqual([
    "info: session restored (saved 2026-01-01T00:00:01.000Z by CLI version 1.0.0, 1.4 MB, 40 ms)",
    "info: session saved (1.4 MB, 12 ms)",
  ]);
});

test("a fresh start is not logged; a save that adds nothing is reported as such", () => {
  expect(story([record("restored", null), end(stateEnd({ restored: null, last: null }))])).toEqual([]);
  expect(story([record("restored", point("1")), end(stateEnd({ last: point("1") }))]).at(-1)).toBe(
    "info: session unchanged since it was saved at 2026-01-01T00:00:01.000Z",
  );
});

test("another version of the CLI is reported once", () => {
  const newer = { version: "2.0.0" };
  const lines = story([
    record("restored", point("1")),
    record("saved", point("2", newer)),
    record("saved", point("3", newer)),
    end(stateEnd({ last: point("4", newer) })),
  ]);
  expect(lines.filter((line) => line.includes("1.0.0 and goes on with 2.0.0"))).toHaveLength(1);
  expect(story([record("restored", point("1")), end(stateEnd({ last: point("4", newer) }))]).join("\n")).toMatch(/goes on with 2\.0\.0/);
});

test("a save that failed, and a hard end, say where the session stands", () => {
  const error = "cannot save the state: ENOSPC: no space left on device, write";
  expect(story([record("restored", point("1")), end(stateEnd({ saved: false, last: point("1"), error }))]).at(-1)).toBe(
    `warning: session not saved: ${error}; the session stands as it was saved at 2026-01-01T00:00:01.000Z`,
  );
  expect(story([record("restored", point("1")), record("saved", point("2")), killed]).at(-1)).toBe(
    "warning: the session stands as it was saved at 2026-01-01T00:00:02.000Z",
  );
  expect(story([record("restored", null), killed])).toEqual(["warning: nothing of the session is known to be saved"]);
  expect(story([killed])).toEqual([]);
});

test("the evidence: what the next run will find", () => {
  const state = (facts: Fact[]) => play([...begun, ...facts]).outcome?.evidence.state;
  expect(state([killed])).toBeNull();
  expect(state([record("restored", null), killed])).toMatchObject({ saved: false, last: null, saveMs: null });
  expect(state([record("restored", point("1")), killed])).toMatchObject({ saved: false, last: point("1") });
  expect(state([record("restored", point("1")), end(stateEnd())])).toMatchObject({ saved: true, restored: point("1"), last: point("3") });
  // Stopped before anything was restored: nothing is known, and nothing was touched.
  expect(state([end(stateEnd({ restored: null, last: null }))])).toBeNull();
});

test("a state that cannot be read keeps the CLI from starting, whichever witness comes first", () => {
  const error = "the saved state cannot be restored: the volume gave no answer for 60 s";
  const refused: Fact = { kind: "end-record", record: endRecord({ exitCode: 216, cause: "spawn-failed", bytes: 0, written: 0, error }) };
  const outcome = { kind: "never-started", cause: "state-unreadable", message: error, permanent: false };
  expect(kindOf(play([...begun, refused]))).toEqual(outcome);
  expect(kindOf(play([...begun, { kind: "pod", pod: pod(ended(216, "Error", error)) }]))).toEqual(outcome);
});
