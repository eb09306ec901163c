import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Run } from "../../src/host/company.ts";
import { runEnd } from "../../src/host/follow.ts";
import type { Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";
import { type AtWork, adopterOf, atWork, nothingLeft, textOf } from "../agents/at-work.ts";
import { NEWEST } from "../breadth.ts";

export type Signal = "SIGTERM" | "SIGKILL";
/** For less than a minute the newest host takes a killed server's runs for its own, and then shows them as running for five. */
const AWAY_MS = 75_000;
/** The elder host goes on by itself; at the newest somebody has to say that it may. */
export async function goesOn(stage: Stage, ...works: readonly AtWork[]): Promise<Run[]> {
  if (stage.host.version === NEWEST) await Promise.all(works.map((work) => release(stage, work)));
  return Promise.all(works.map((work) => adopterOf(stage, work)));
}

/** What an operator does on the issue's page; the host may ask for it twice. */
async function release({ company }: Stage, { issue, run }: AtWork): Promise<void> {
  const blocker = async () => (await company.issue(issue.id)).executionBlocker ?? null;
  await until(`the hold of ${issue.identifier}`, blocker);
  await until(`the release of ${issue.identifier}`, async () => {
    const held = await blocker();
    if (held === null) return (await company.issue(issue.id)).status !== "blocked";
    expect(held.runId).toBe(run.id);
    const evidence = "The agent goes on in its Job, which the next run takes over.";
    await company.reconcile(issue.id, { actionId: held.recoveryActionId, runId: run.id, actionOutcome: "mixed", evidence });
    return false;
  });
}

async function stopped(stage: Stage, signal: Signal): Promise<void> {
  const jobs = new Set(await stage.jobs());
  await stage.host.end(signal);
  if (signal === "SIGKILL" && stage.host.version === NEWEST) await sleep(AWAY_MS);
  expect(new Set(await stage.jobs())).toEqual(jobs);
  await stage.host.start();
}

/** The server goes away in the middle of three runs. Each one's next run goes on with the Job; one agent finishes its issue, one goes round the relay, one is cancelled. */
export async function restartUnder(stage: Stage, signal: Signal): Promise<void> {
  const { company } = stage;
  const [relayed, direct, unwanted] = await Promise.all([
    atWork(stage, `relayed-${signal}`, "close-issue"),
    atWork(stage, `direct-${signal}`, `PAPERCLIP_API_URL=${stage.host.url} close-issue`, "claude_k8s"),
    atWork(stage, `unwanted-${signal}`, "close-issue", "claude_k8s"),
  ]);
  await stopped(stage, signal);
  const jobs = new Set(await stage.jobs());
  const [next, other, third] = (await goesOn(stage, relayed, direct, unwanted)) as [Run, Run, Run];
  expect(new Set(await stage.jobs())).toEqual(jobs);
  for (const { run } of [relayed, direct, unwanted])
    expect(await company.run(run.id)).toMatchObject(
      signal === "SIGTERM" ? { status: "interrupted" } : { status: "failed", errorCode: "process_lost" },
    );
  for (const work of [relayed, direct]) work.goOn();

  expect(await runEnd(company, next.id)).toMatchObject({ status: "succeeded", errorCode: null });
  const log = await textOf(stage, next);
  expect(log).toContain("200 closed");
  expect(log.match(/CLI started/g)).toHaveLength(1);
  expect(await company.issue(relayed.issue.id)).toMatchObject({ status: "done" });
  const invoked = (await company.events(next.id)).filter(({ eventType }) => eventType === "adapter.invoke");
  expect(invoked).toHaveLength(1);
  expect(invoked[0]?.payload).toMatchObject({ commandNotes: expect.arrayContaining([`adopted from run ${relayed.run.id}`]) });
  expect(invoked[0]?.payload).not.toHaveProperty("prompt");

  // The day this is accepted, the relay has lost its reason.
  await runEnd(company, other.id);
  expect(await textOf(stage, other)).toContain("Issue run ownership conflict");
  expect(await textOf(stage, other)).not.toContain("200 closed");
  await company.update(direct.issue.id, { status: "cancelled" });

  await company.cancel(third.id);
  expect(await runEnd(company, third.id)).toMatchObject({ status: "cancelled" });
  await company.update(unwanted.issue.id, { status: "cancelled" });
  await nothingLeft(stage, relayed.agent, direct.agent, unwanted.agent);
}
