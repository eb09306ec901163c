import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTACKS } from "./attacker/list.ts";
import { taskOf } from "./attacker/sessions.ts";
import { INNOCENT, MARK, type Report } from "./orders.ts";
import type { ServerProcess } from "./server/server-process.ts";
import { expectCleanLog, expectProperResult, shortly } from "./stage/checks.ts";
import { type Innocent, startInnocent, startRun } from "./stage/innocent.ts";
import { record } from "./stage/ledger.ts";
import { PENDING } from "./stage/pending.ts";
import { isSelected } from "./stage/selected.ts";
import { slots } from "./stage/slots.ts";
import { openStage, type Stage } from "./stage/stage.ts";

// The operator has let pods mount the whole volume: attackers write into other runs' files and sessions. Signatures alone protect these.

const idsOf = (group: string): string[] =>
  Object.keys(ATTACKS).filter((id) => id.startsWith(group) && PENDING[id] === undefined && isSelected(id));
/** Attacks on files of other runs than the one whose records are added to. */
const APART = /output|half|emptied/;
const SESSION_OWNER = "innocent-sessions";
const REPLACED = "sessions/replaced";

let stage: Stage;
let server: ServerProcess;
/** Whose records are added to; whose next record is spoiled; whose output is changed. */
let innocent: Innocent;
const victims = new Map<string, Innocent>();
/** What the next run of each attacked task found in its home. */
const restored = new Map<string, Promise<string>>();

beforeAll(async () => {
  stage = await openStage();
  server = await stage.startServer({ volume: { mount: "whole" } });
  const owner = { id: SESSION_OWNER };
  const before = await startInnocent(stage, server, { ...owner, task: taskOf(REPLACED) });
  await before.finish();
  innocent = await startInnocent(stage, server);
  for (const name of ["metaHalf", "metaEmptied", "outputAdded", "outputReplaced", "outputEmptied"])
    victims.set(name, await startInnocent(stage, server));
  const aim = {
    meta: innocent.meta,
    run: innocent.runId,
    states: dirname(before.state),
    ...Object.fromEntries([...victims].map(([name, { meta, output }]) => [name, name.startsWith("meta") ? meta : output])),
  };
  const attacks = [...idsOf("records/"), ...idsOf("sessions/")];
  const attacker = { id: "attacker", company: "attacker-company" };
  const run = await startRun(stage, server, attacker, { orders: { role: "attack", gate: null, attacks, aim } });
  expect((await run.done).exitCode, run.log()).toBe(0);
  const allowed = slots(4);
  for (const id of idsOf("sessions/")) restored.set(id, quietly(allowed(() => nextSession(id))));
}, 300_000);
afterAll(() => stage.stop());

function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

const reportOf = (id: string): Report => {
  const report = stage.listener.reports.find((each) => each.id === id);
  if (report === undefined) throw new Error(`the attacker did not report on ${id}`);
  expect(report.got, report.saw).toBe(false);
  return report;
};

/** The next run of the task, and what its home began with. */
async function nextSession(id: string): Promise<string> {
  const next = await startInnocent(stage, server, { id: SESSION_OWNER, task: taskOf(id) });
  await next.finish();
  const home = stage.listener.reports.filter((report) => report.id === "innocent/home" && report.saw.includes(`"task":"${taskOf(id)}"`));
  return home.at(-1)?.saw ?? "";
}

test.each(idsOf("records/").filter((id) => !APART.test(id)))("%s", (id) => {
  const { saw } = reportOf(id);
  record({ id, tried: ATTACKS[id]!.tries, happened: saw, innocent: innocent.untouched(), server: server.gone ?? "lives" });
});

test("the run whose records were added to ends as without attacks, and says once that there were others", async () => {
  await innocent.finish();
  expect((await innocent.done).resultJson).toMatchObject({ proof: expect.stringMatching(/^(end-record|termination-message)$/) });
  const added = idsOf("records/").some((id) => !APART.test(id));
  expect(innocent.log().match(/did not write: they do not count/g) ?? []).toHaveLength(added ? 1 : 0);
});

test.each(["records/half-line", "records/emptied"].filter(isSelected))("%s", async (id) => {
  const { saw } = reportOf(id);
  const victim = victims.get(id === "records/half-line" ? "metaHalf" : "metaEmptied")!;
  const ended = await victim.finish();
  record({ id, tried: ATTACKS[id]!.tries, happened: saw, innocent: ended, server: server.gone ?? "lives" });
});

test.each(["records/output-added", "records/output-replaced", "records/output-emptied"].filter(isSelected))("%s", async (id) => {
  const name = id.replace("records/output-", "").replace(/^./, (letter) => letter.toUpperCase());
  reportOf(id);
  const victim = victims.get(`output${name}`)!;
  victim.release();
  const result = await victim.done;
  expectProperResult(result);
  expectCleanLog(victim.log());
  const succeeded = (result.errorCode ?? null) === null;
  expect(succeeded ? [result.sessionId, result.costUsd] : [INNOCENT.session, INNOCENT.cost]).toEqual([INNOCENT.session, INNOCENT.cost]);
  if (succeeded) expect(victim.log()).not.toContain(MARK);
  expect(JSON.stringify([result.sessionId, result.sessionParams, result.summary])).not.toContain(MARK);
  record({ id, tried: ATTACKS[id]!.tries, happened: shortly(result), innocent: "not believed", server: server.gone ?? "lives" });
});

test.each(idsOf("sessions/"))("%s", async (id) => {
  reportOf(id);
  const home = JSON.parse(await restored.get(id)!) as { session: string };
  expect(["", INNOCENT.session]).toContain(home.session);
  const happened = home.session === "" ? "a fresh session" : "its own earlier session";
  record({ id, tried: ATTACKS[id]!.tries, happened, innocent: "ended as without attacks", server: server.gone ?? "lives" });
});

test("the server lives and does another run", async () => {
  expect(server.gone).toBeNull();
  await (await startInnocent(stage, server, { id: innocent.agent.id })).finish();
});
