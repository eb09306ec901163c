import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type ApiError, call } from "../src/host/api.ts";
import type { Agent, Issue } from "../src/host/company.ts";
import type { Version } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { type AtWork, atWork, closeAll } from "./agents/at-work.ts";
import { jobOver } from "./agents/job-over.ts";
import { ELDER, NEWEST } from "./breadth.ts";
import { operator, recover } from "./operator-cli.ts";
import { RELEASED, SITUATIONS, type Situation } from "./recover/held-situations.ts";
import { installReturning, REPAIRED, RETURNING } from "./recover/returning-adapter.ts";

// What `recover` lists and what it releases, situation by situation, and what the host itself does about holds.

let stage: Stage;

async function openOn(version: Version): Promise<void> {
  dropRoot();
  stage = await openStage(inject("packed"), { version, say: (line) => console.log(line) });
  await installReturning(stage);
}

interface Begun {
  readonly agent: Agent;
  readonly issue: Issue;
}

async function begin({ name, config }: Pick<Situation, "name" | "config">): Promise<Begun> {
  const agent = await stage.company.hire(name, RETURNING, config);
  return { agent, issue: await stage.company.assign(agent.id, name, "Any task.") };
}

const blockerOf = async ({ issue }: Begun) => (await stage.company.issue(issue.id)).executionBlocker ?? null;
/** The host has put it aside: from then on its list shows nothing of the hold. */
const blocked = ({ issue }: Begun) =>
  until(`${issue.identifier} to be blocked`, async () => (await stage.company.issue(issue.id)).status === "blocked");
const repair = ({ agent }: Begun) => stage.company.configure(agent.id, REPAIRED);
async function repairAndName(one: Situation & Begun): Promise<{ named: string; stated: string }> {
  const { identifier } = one.issue;
  await repair(one);
  const { out } = await recover(stage, "--issue", identifier);
  const words = "I have looked at its node: nothing runs there.";
  const stated = one.needsStatement ? (await recover(stage, "--issue", identifier, "--stopped", words)).out : "";
  return { named: out.replace(/\s+/g, " "), stated };
}

/** The rows of one issue in what was printed, as one line. */
function linesOf(out: string, { issue }: Begun): string {
  const own: string[] = [];
  let isOwn = false;
  for (const line of out.split("\n")) {
    isOwn = line.startsWith(" ") ? isOwn : new RegExp(`^${issue.identifier}[ :]`).test(line);
    if (isOwn) own.push(line);
  }
  return own.join(" ").replace(/\s+/g, " ");
}

describe(`Paperclip ${NEWEST}`, () => {
  let begun: readonly (Situation & Begun)[];
  beforeAll(async () => {
    await openOn(NEWEST);
    begun = await Promise.all(SITUATIONS.map(async (situation) => ({ ...situation, ...(await begin(situation)) })));
    for (const one of begun) await blocked(one);
  });
  afterAll(() => stage?.stop());

  test("everything that is held is listed, and nothing of it released by itself", async () => {
    const { code, out } = await recover(stage);
    expect(code, out).toBe(3);
    for (const one of begun) expect(linesOf(out, one), one.name).toMatch(one.listed);
    expect(out).toMatch(/8 issues held, 0 to be released, of 9 open issues in 1 company; 1 issue waits for somebody/);
    for (const one of begun) expect((await stage.company.issue(one.issue.id)).status).toBe("blocked");
  });

  test("the host's list marks no hold, and answers 200 to a resolution that changes nothing", async () => {
    const [first] = begun as [Situation & Begun];
    const listed = await stage.company.issuesOf(first.agent.id);
    expect(listed).toMatchObject([{ activeRecoveryAction: null }]);
    const held = await blockerOf(first);
    await call(stage.host, "POST", `/issues/${first.issue.id}/recovery-actions/resolve`, {
      actionId: held?.recoveryActionId,
      outcome: "restored",
      sourceIssueStatus: "todo",
    });
    expect(await blockerOf(first)).toMatchObject({ recoveryActionId: held?.recoveryActionId });
  });

  test("named: each is released once it is repaired, and what nothing proves only by somebody's word", async () => {
    // All at once: the host starts the next runs in a sweep every 15 s.
    const said = await Promise.all(begun.map(async (one) => ({ one, ...(await repairAndName(one)) })));
    for (const { one, named, stated } of said) {
      expect(named, one.name).toMatch(one.named);
      if (one.needsStatement) expect(stated, one.name).toMatch(RELEASED);
      expect(await blockerOf(one), one.name).toBeNull();
      // Else the host asks the agent again and again what it made of its issue.
      await stage.company.update(one.issue.id, { status: "done" });
    }
    const { identifier } = said[0]!.one.issue;
    expect((await recover(stage, "--issue", identifier)).out).toContain(`${identifier} is not held: its status is done`);
  });

  test("an issue that was finished while it was held: the host cannot release it, and it is held again when it is reopened", async () => {
    const one = await begin({ name: "Finished while held", config: SITUATIONS[0]!.config });
    await blocked(one);
    await repair(one);
    const { identifier, id } = one.issue;
    await stage.company.update(id, { status: "done" });
    const held = (await blockerOf(one))!;
    const release = {
      actionId: held.recoveryActionId,
      runId: held.runId,
      actionOutcome: "mixed",
      evidence: "It has ended, says its record.",
    };
    await expect(stage.company.reconcile(id, release as never)).rejects.toSatisfy((error: ApiError) => error.status === 500);
    expect((await recover(stage)).out).toContain(`finished, but held if somebody reopens them: ${identifier}`);
    expect((await recover(stage, "--issue", identifier)).out.replace(/\s+/g, " ")).toContain(`set it to todo, then --issue ${identifier}`);

    await stage.company.update(id, { status: "todo" });
    await blocked(one);
    expect((await recover(stage, "--issue", identifier)).out).toMatch(RELEASED);
    expect(await blockerOf(one)).toBeNull();
  });

  test("after a SIGTERM: what lives stays, what left its end behind is released, what left nothing needs a word", async () => {
    await closeAll(stage);
    const [alive, deleted, closing, gone] = await Promise.all([
      atWork(stage, "alive", "echo finished", "claude_k8s"),
      atWork(stage, "deleted", "echo finished", "claude_k8s"),
      atWork(stage, "closing", "close-issue"),
      begin({ name: "Left nothing", config: { hangs: true } }),
    ]);
    await until("its run", async () => (await stage.company.runs(gone.agent.id))[0]?.status === "running");
    await stage.host.restart("SIGTERM");
    for (const one of [alive, deleted, closing, gone]) await blocked(one);
    await deleteJob(deleted);
    for (const one of [deleted, closing]) one.goOn();
    await jobOver(stage, closing);

    const listed = await recover(stage, "--dry-run");
    expect(linesOf(listed.out, alive)).toMatch(/^\S+ \S+ interrupted alive: its pod runs/);
    expect(linesOf(listed.out, deleted)).toMatch(/^\S+ \S+ interrupted ended: the agent .*\(stopped from outside\); its Job is gone/);
    expect(linesOf(listed.out, gone)).toMatch(/^\S+ \S+ interrupted unknown: no Job of this run is found/);
    const released = await recover(stage);
    expect(released).toMatchObject({ code: 3, out: expect.stringMatching(/3 issues held, 1 to be released/) });
    expect(linesOf(released.out, deleted)).toMatch(RELEASED);

    await endedAlone(closing, listed.out, released.out);
    await repair(gone);
    const stated = await recover(stage, "--issue", gone.issue.identifier, "--stopped", "The machine it ran on is switched off.");
    expect(stated.out).toMatch(RELEASED);
    alive.goOn();
    await closeAll(stage);
    expect((await recover(stage)).out).toMatch(/^no issue is held \(0 open issues in 1 company looked at\);/);
  });
});

/** Its agent closed the issue while nobody followed it: the host's run stays lost, but its cost and transcript are not. */
async function endedAlone(one: AtWork, listed: string, reported: string): Promise<void> {
  const { company } = stage;
  expect(await company.issue(one.issue.id)).toMatchObject({ status: "done" });
  expect(await company.run(one.run.id)).toMatchObject({ status: "interrupted", usageJson: null });
  const alone = (out: string) => linesOf(out.slice(out.indexOf("ended while no server was there")), one);
  expect(alone(listed)).toMatch(
    /^\S+ \S+ the agent exited with code 0 at .* tokens in.* out, \$\d+\.\d+; what it did: paperclip-k8s transcript/,
  );
  expect(alone(reported)).toMatch(/cost not reported: its Job is still there/);
  await deleteJob(one);
  expect(alone((await recover(stage)).out)).toMatch(/cost reported to the host now/);
  const costs = await company.issueCosts(one.issue.id);
  expect(costs.outputTokens).toBeGreaterThan(0);
  expect(costs.costCents).toBeGreaterThan(0);
  expect(alone((await recover(stage)).out)).toMatch(/cost reported to the host at 20/);
  const { costCents, outputTokens } = costs;
  expect(await company.issueCosts(one.issue.id)).toMatchObject({ costCents, outputTokens });
  expect((await operator(stage, ["transcript", one.run.id.slice(0, 8)])).out).toContain("200 closed");
}

async function deleteJob({ agent }: AtWork): Promise<void> {
  const { cluster, namespace } = stage;
  const of = (kind: "jobs" | "pods") =>
    cluster.list(kind, namespace).filter(({ metadata }) => metadata.labels?.["paperclip.io/agent-id"] === agent.id);
  const url = `${cluster.url}/apis/batch/v1/namespaces/${namespace}/jobs/${of("jobs")[0]?.metadata.name}?propagationPolicy=Background`;
  await fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${cluster.token}` } });
  await until("the pod to go", async () => of("pods").length === 0);
}

describe(`Paperclip ${ELDER}`, () => {
  beforeAll(() => openOn(ELDER));
  afterAll(() => stage?.stop());

  test("nothing is held there; what waits for a repair is listed, and handed back when it is named", async () => {
    const one = await begin(SITUATIONS.find(({ name }) => name === "a setting to repair")!);
    await blocked(one);
    const { identifier } = one.issue;
    const listed = await recover(stage);
    expect(listed).toMatchObject({
      code: 0,
      out: expect.stringMatching(/no issue is held \(1 open issue in 1 company looked at\); 1 issue waits/),
    });
    expect(linesOf(listed.out, one)).toMatch(/waits for you: Failed: configuration_incomplete\. Repair that, then set the issue to todo/);
    await repair(one);
    expect((await recover(stage, "--issue", identifier)).out).toMatch(/: set to todo; run [0-9a-f-]{36} follows/);
  });
});
