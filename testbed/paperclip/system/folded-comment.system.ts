import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import type { Run } from "../src/company.ts";
import { runEnd } from "../src/follow.ts";
import { VERSIONS } from "../src/release.ts";
import { openStage, PROGRAMS, type Stage } from "../src/stage.ts";
import { dropRoot } from "../src/user.ts";
import { until } from "../src/wait.ts";
import { type AtWork, adopterOf, atWork, nothingLeft, retryOf, textOf } from "./at-work.ts";
import { jobOver } from "./job-over.ts";
import { drain, operator, recover } from "./operator-cli.ts";

// A comment that comes while nobody follows the Job. The newest host folds an agent's into the retry that waits; a person's takes that
// retry's place; while the issue is held it keeps either.

const SPAN = 420_000;
const WORDS = "the second word";
let stage: Stage;
beforeAll(async () => {
  dropRoot();
  stage = await openStage(inject("packed"), { version: VERSIONS[0], say: (line) => console.log(line) });
});
afterAll(() => stage?.stop());
// One that failed half-way must not leave a server that takes no runs.
afterEach(async () => void (await operator(stage, ["drain", "--undo"])));

/** What the run's turns were told, one after the other; nothing for a Job that was taken over. */
const prompts = async (run: Run): Promise<string[]> =>
  (await stage.company.events(run.id))
    .filter(({ eventType }) => eventType === "adapter.invoke")
    .map(({ payload }) => String(payload?.prompt));

/** The run whose model was told of the comment: the script answers what it was told last. */
async function answerOf({ agent }: AtWork): Promise<Run> {
  const { company } = stage;
  const run = await until(
    "the comment's answer",
    async () => {
      for (const each of (await company.runs(agent.id)).reverse()) if ((await textOf(stage, each)).includes(`● ${WORDS}`)) return each;
      return null;
    },
    180,
  );
  const ended = await runEnd(company, run.id);
  expect(ended).toMatchObject({ status: "succeeded", errorCode: null });
  return ended;
}

async function finish(work: AtWork): Promise<void> {
  await stage.company.update(work.issue.id, { status: "done" });
  await nothingLeft(stage, work.agent);
}

test(
  "an agent's comment while a drained run's retry waits: the retry takes the Job over, then answers it as a turn of its own",
  async () => {
    const { company } = stage;
    const work = await atWork(stage, "folded", "echo the first word");
    // One of the host's own kind: not drained, and quick.
    const args = [join(PROGRAMS, "comment-on"), work.issue.id, `say:${WORDS}`];
    const colleague = await company.hire(`Colleague of ${work.agent.name}`, "process", { command: process.execPath, args });
    expect(await drain(stage)).toMatchObject({ code: 0 });
    const retry = await retryOf(stage, work, "scheduled_retry");
    const word = await company.assign(colleague.id, `Comment on ${work.issue.identifier}`, "A word to a colleague.");
    const joined = async () => ((await company.run(retry.id)).contextSnapshot?.wakeCommentIds as string[] | undefined) ?? [];
    await until("the fold", async () => (await joined()).length > 0, 60);
    await company.update(word.id, { status: "cancelled" });
    expect(await company.run(retry.id)).toMatchObject({ status: "scheduled_retry" });
    await stage.host.restart("SIGTERM");
    expect((await adopterOf(stage, work)).id).toBe(retry.id);
    work.goOn();
    const answer = await answerOf(work);
    expect(answer.id).toBe(retry.id);
    const log = await textOf(stage, retry);
    expect(log).toContain("the first word");
    expect(log).toMatch(/was started before (a message|\d messages) that this run is to answer/);
    expect(await prompts(retry)).toEqual(["", expect.stringMatching(/^You are/)]);
    // Both turns are counted.
    expect(answer.usageJson?.outputTokens).toBeGreaterThan(114);
    await finish(work);
  },
  SPAN,
);

/** Runs that went on with the Job. */
async function adopters({ agent, run }: AtWork): Promise<Run[]> {
  const runs = await stage.company.runs(agent.id);
  const logs = await Promise.all(runs.map(async (each) => ({ each, text: await textOf(stage, each) })));
  return logs.filter(({ text }) => text.includes(`of run ${run.id};`)).map(({ each }) => each);
}

// Before the restart, the run that takes the retry's place may be begun and stopped by it: then the issue is held for a run without a Job.
test.each(["after", "before"])(
  "a person's comment while the retry waits, %s the restart: the Job is gone on with, and the comment is answered",
  async (when) => {
    const { company } = stage;
    const work = await atWork(stage, `superseded ${when}`, "echo the first word");
    expect(await drain(stage)).toMatchObject({ code: 0 });
    const waiting = await retryOf(stage, work);
    const comment = () => company.comment(work.issue.id, `say:${WORDS}`);
    if (when === "before") await comment();
    await stage.host.restart("SIGTERM");
    if (when === "after") await comment();
    const isHeld = async () => Boolean((await company.issue(work.issue.id)).executionBlocker);
    await until("an adoption or a hold", async () => (await isHeld()) || (await adopters(work)).length > 0, 120);
    const held = await isHeld();
    console.log(`the waiting retry is ${(await company.run(waiting.id)).status}, the issue ${held ? "held" : "free"}`);
    work.goOn();
    if (held) {
      await jobOver(stage, work);
      const said = await recover(stage, "--issue", work.issue.identifier);
      expect(said).toMatchObject({ code: 0, out: expect.stringContaining("released (completed") });
    }
    const [adopter] = await until("the adoption", async () => (await adopters(work)).length > 0 && adopters(work), 120);
    expect(await runEnd(company, adopter!.id)).toMatchObject({ status: "succeeded", errorCode: null });
    expect(await textOf(stage, adopter!)).toContain("the first word");
    await answerOf(work);
    expect(await adopters(work)).toHaveLength(1);
    await finish(work);
  },
  SPAN,
);

test(
  "a comment while the issue is held: after recover the Job is settled from its files, and the comment is answered",
  async () => {
    const { company } = stage;
    const work = await atWork(stage, "held", "echo the first word");
    await stage.host.restart("SIGTERM");
    await until("the hold", async () => (await company.issue(work.issue.id)).executionBlocker, 60);
    await company.comment(work.issue.id, `say:${WORDS}`);
    work.goOn();
    await jobOver(stage, work);
    const said = await recover(stage, "--issue", work.issue.identifier);
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining("released (completed") });
    const retry = await retryOf(stage, work);
    expect(await runEnd(company, retry.id)).toMatchObject({ status: "succeeded", errorCode: null });
    expect(await textOf(stage, retry)).toContain("the first word");
    await answerOf(work);
    await finish(work);
  },
  SPAN,
);
