import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { onKube } from "../../suite/src/bed.ts";
import { ATTACKS } from "./attacker/list.ts";
import type { ServerProcess, ServerRun } from "./server/server-process.ts";
import { expectCleanLog, expectPrintable, expectProperResult, shortly } from "./stage/checks.ts";
import { type Innocent, placeHostFiles, startInnocent, startRun } from "./stage/innocent.ts";
import { record } from "./stage/ledger.ts";
import { PENDING } from "./stage/pending.ts";
import { isSelected } from "./stage/selected.ts";
import { slots } from "./stage/slots.ts";
import { openStage, type Stage } from "./stage/stage.ts";

// Each of these attacks is a run of its own that spoils its own end: what it says of itself, the files that the server reads, its runner.
// One server follows all of them, beside an innocent run.

let stage: Stage;
let server: ServerProcess;
let innocent: Innocent;
let aim: Record<string, string>;

beforeAll(async () => {
  stage = await openStage();
  server = await stage.startServer({ limits: { outputBytes: 24 * 1024 * 1024 } });
  aim = await placeHostFiles(stage);
  innocent = await startInnocent(stage, server);
  const allowed = slots(AT_ONCE);
  const ids = wanted.map(([id]) => id).filter((id) => PENDING[id] === undefined);
  for (const name of new Set(ids.map(shared))) {
    const together = ids.filter((id) => shared(id) === name);
    const run = quietly(allowed(() => attack(together)));
    for (const id of together) attacks.set(id, run);
  }
});
afterAll(() => stage.stop());

const GROUPS = /^(termination|own-records|own-files|processes|disk|log)\//;
/** The run goes on for ever unless it is stopped. */
const CANCELLED = /^own-records\/(?!end-signed)|^processes\/stop-runner/;
/** After these no record of the run counts any more. */
const LAST = /^own-records\/(end-signed|last-number)|^processes\/stop-runner/;
const wanted = Object.entries(ATTACKS).filter(([id, { only }]) => GROUPS.test(id) && isSelected(id) && (only === undefined || onKube));

/** Which attacks share a run. A real pod's runner cannot be killed from inside, so that there a run survives many. */
function shared(id: string): string {
  if (id.startsWith("log/")) return "log";
  return onKube && /^(termination|own-records)\//.test(id) && !LAST.test(id) && id !== "own-records/note-signed"
    ? (id.split("/")[0] ?? id)
    : id;
}

/** Most of the time each of them waits: many at once cost little more than one. */
const AT_ONCE = 12;
const attacks = new Map<string, Promise<ServerRun>>();

/** Each test waits for its own run; one that fails must not be an unhandled rejection until then. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function attack(ids: readonly string[]): Promise<ServerRun> {
  const [first = ""] = ids;
  const isCancelled = CANCELLED.test(first);
  const gate = isCancelled || LAST.test(first) ? "never" : null;
  const agent = { id: shared(first).replace(/\W/g, "-"), company: "attacker-company" };
  const run = await startRun(stage, server, agent, { orders: { role: "attack", gate, attacks: ids, aim } });
  if (isCancelled) {
    await vi.waitUntil(() => ids.every((id) => stage.listener.reports.some((report) => report.id === id)) || run.isOver(), {
      timeout: 150_000,
    });
    if (!LAST.test(first)) await run.saw("behind the attacks");
    run.cancel();
  }
  await run.done;
  return run;
}

test.for(wanted)("%s", async ([id, { tries }], { skip }) => {
  const pending = PENDING[id];
  if (pending !== undefined) return skip(pending);
  const run = await attacks.get(id)!;
  const result = await run.done;
  expectProperResult(result);
  if (id === "own-records/note-signed") expectPrintable(run.log());
  else expectCleanLog(run.log());
  expect(run.log()).not.toContain("the host's own");
  if (CANCELLED.test(id)) expect(result.errorCode ?? "cancelled").toMatch(/cancel/);
  if (id === "termination/unsigned" && !onKube) expect(result.errorMessage).not.toMatch(/code 0/);
  record({ id, tried: tries, happened: shortly(result), innocent: innocent.untouched(), server: server.gone ?? "lives" });
});

test.runIf(onKube && isSelected("processes/daemon"))("a process that was left behind is gone with its pod", async () => {
  const count = () => stage.listener.reports.filter(({ id }) => id === "processes/daemon-alive").length;
  expect(count()).toBeGreaterThan(0);
  await expect
    .poll(async () => {
      const before = count();
      await sleep(500);
      return count() - before;
    })
    .toBe(0);
});

test("the innocent run ends as without attacks, and the server does another run", async () => {
  await innocent.finish();
  await (await startInnocent(stage, server, { id: innocent.agent.id })).finish();
  expect(server.gone).toBeNull();
});
