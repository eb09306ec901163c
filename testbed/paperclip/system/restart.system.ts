import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Run } from "../src/company.ts";
import { runEnd } from "../src/follow.ts";
import { VERSIONS } from "../src/release.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { dropRoot } from "../src/user.ts";
import { until } from "../src/wait.ts";
import { type AtWork, adopterOf, atWork, nothingLeft, textOf } from "./at-work.ts";

// A server goes away in the middle of its runs. The run that follows goes on with the Job, and its agent finishes the issue.

const [NEWEST] = VERSIONS;
const SIGNALS = ["SIGTERM", "SIGKILL"] as const;
/** For less than a minute the newest host takes a killed server's runs for its own, and then shows them as running for five. */
const AWAY_MS = 75_000;
const SPAN = 420_000;
let stage: Stage;

/** The elder host goes on by itself; at the newest somebody has to say that it may. */
async function goesOn(...works: readonly AtWork[]): Promise<Run[]> {
  if (stage.host.version === NEWEST) await Promise.all(works.map(release));
  return Promise.all(works.map((work) => adopterOf(stage, work)));
}

/** What an operator does on the issue's page; the host may ask for it twice. */
async function release({ issue, run }: AtWork): Promise<void> {
  const { company } = stage;
  const blocker = async () => (await company.issue(issue.id)).executionBlocker ?? null;
  await until(`the hold of ${issue.identifier}`, blocker, 90);
  await until(
    `the release of ${issue.identifier}`,
    async () => {
      const held = await blocker();
      if (held === null) return (await company.issue(issue.id)).status !== "blocked";
      expect(held.runId).toBe(run.id);
      const evidence = "The agent goes on in its Job, which the next run takes over.";
      await company.reconcile(issue.id, { actionId: held.recoveryActionId, runId: run.id, actionOutcome: "mixed", evidence });
      return false;
    },
    60,
  );
}

async function stopped(signal: (typeof SIGNALS)[number]): Promise<void> {
  const jobs = new Set(await stage.jobs());
  await stage.host.end(signal);
  if (signal === "SIGKILL" && stage.host.version === NEWEST) await sleep(AWAY_MS);
  expect(new Set(await stage.jobs())).toEqual(jobs);
  await stage.host.start();
}

describe.each(VERSIONS)("Paperclip %s", (version) => {
  beforeAll(async () => {
    dropRoot();
    stage = await openStage(inject("packed"), { version, say: (line) => console.log(line) });
  });
  afterAll(() => stage?.stop());

  test.each(SIGNALS)(
    "%s: the next run adopts the Job, its agent still closes its issue, and without the relay it cannot; a cancel ends it",
    async (signal) => {
      const { company } = stage;
      const [relayed, direct, unwanted] = await Promise.all([
        atWork(stage, `relayed-${signal}`, "close-issue"),
        atWork(stage, `direct-${signal}`, `PAPERCLIP_API_URL=${stage.host.url} close-issue`),
        atWork(stage, `unwanted-${signal}`, "close-issue"),
      ]);
      await stopped(signal);
      const jobs = new Set(await stage.jobs());
      const [next, other, third] = (await goesOn(relayed, direct, unwanted)) as [Run, Run, Run];
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
      expect(invoked[0]?.payload).toMatchObject({
        prompt: "",
        commandNotes: expect.arrayContaining([`adopted from run ${relayed.run.id}`]),
      });

      // The day this is accepted, the relay has lost its reason.
      await runEnd(company, other.id);
      expect(await textOf(stage, other)).toContain("Issue run ownership conflict");
      expect(await textOf(stage, other)).not.toContain("200 closed");
      await company.update(direct.issue.id, { status: "cancelled" });

      await company.cancel(third.id);
      expect(await runEnd(company, third.id)).toMatchObject({ status: "cancelled" });
      await company.update(unwanted.issue.id, { status: "cancelled" });
      await nothingLeft(stage, relayed.agent, direct.agent, unwanted.agent);
    },
    SPAN,
  );
});
