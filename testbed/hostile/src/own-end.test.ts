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
  for (const [id] of wanted) if (PENDING[id] === undefined) attacks.set(id, quietly(allowed(() => attack(id))));
});
afterAll(() => stage.stop());

const GROUPS = /^(termination|own-records|own-files|processes|disk|log)\//;
/** The run goes on for ever unless it is stopped. */
const CANCELLED = /^own-records\/(?!end-signed)|^processes\/stop-runner/;
const wanted = Object.entries(ATTACKS).filter(([id, { only }]) => GROUPS.test(id) && isSelected(id) && (only === undefined || onKube));

/** Most of the time each of them waits: many at once cost little more than one. */
const AT_ONCE = 12;
const attacks = new Map<string, Promise<ServerRun>>();

/** Each test waits for its own run; one that fails must not be an unhandled rejection until then. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function attack(id: string): Promise<ServerRun> {
  const gate = CANCELLED.test(id) || id === "own-records/end-signed" ? "never" : null;
  const agent = { id: id.replace(/\W/g, "-"), company: "attacker-company" };
  const run = await startRun(stage, server, agent, { orders: { role: "attack", gate, attacks: [id], aim } });
  if (CANCELLED.test(id)) {
    if (id.startsWith("own-records/") && id !== "own-records/last-number") await run.saw(`behind ${id}`);
    else await vi.waitUntil(() => stage.listener.reports.some((report) => report.id === id), { timeout: 150_000 });
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
  if (id === "termination/unsigned" && !onKube) expect(result).not.toMatchObject({ exitCode: 0 });
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
