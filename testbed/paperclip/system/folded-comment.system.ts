import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Run } from "../src/host/company.ts";
import { runEnd } from "../src/host/follow.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, PROGRAMS, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { type AtWork, adopterOf, atWork, nothingLeft, retryOf, textOf } from "./agents/at-work.ts";
import { jobOver } from "./agents/job-over.ts";
import { NEWEST } from "./breadth.ts";
import { drained } from "./drain/drained.ts";
import { recover } from "./operator-cli.ts";

// A comment that comes while nobody follows the Job. The newest host folds an agent's into the retry that waits; a person's takes that
// retry's place; while the issue is held it keeps either.

const WORDS = "the second word";
let stage: Stage;
beforeAll(async () => {
  dropRoot();
  stage = await openStage(inject("packed"), { version: NEWEST, say: (line) => console.log(line) });
});
afterAll(() => stage?.stop());

const begin = (title: string): Promise<AtWork> => atWork(stage, title, "echo the first word");
const comment = ({ issue }: AtWork): Promise<unknown> => stage.company.comment(issue.id, `say:${WORDS}`);

/** The prompts of the run's attempts in order; none for a Job that was taken over. */
const prompts = async (run: Run): Promise<string[]> =>
  (await stage.company.events(run.id))
    .filter(({ eventType }) => eventType === "adapter.invoke")
    .map(({ payload }) => String(payload?.prompt ?? ""));

/** The run whose model got the comment: the script answers the last message. */
async function answerOf({ agent }: AtWork): Promise<Run> {
  const { company } = stage;
  const run = await until("the comment's answer", async () => {
    for (const each of (await company.runs(agent.id)).reverse()) if ((await textOf(stage, each)).includes(`● ${WORDS}`)) return each;
    return null;
  });
  const ended = await runEnd(company, run.id);
  expect(ended).toMatchObject({ status: "succeeded", errorCode: null });
  return ended;
}

async function finish(work: AtWork): Promise<void> {
  await stage.company.update(work.issue.id, { status: "done" });
  await nothingLeft(stage, work.agent);
}

/** Once the Job is over, the operator's one command releases its issue. */
async function released(work: AtWork): Promise<void> {
  await jobOver(stage, work);
  const said = await recover(stage, "--issue", work.issue.identifier);
  expect(said).toMatchObject({ code: 0, out: expect.stringContaining("released (completed") });
}

/** Has another agent comment on the issue: one of the host's own kind, which is not drained, and quick. Back when the host has folded that into the retry. */
async function commentOfAnAgent({ agent, issue }: AtWork, retry: Run): Promise<void> {
  const { company } = stage;
  const args = [join(PROGRAMS, "comment-on"), issue.id, `say:${WORDS}`];
  const colleague = await company.hire(`Colleague of ${agent.name}`, "process", { command: process.execPath, args });
  const word = await company.assign(colleague.id, `Comment on ${issue.identifier}`, "A word to a colleague.");
  await until("the fold", async () => {
    const { status, contextSnapshot } = await company.run(retry.id);
    expect(status, "the retry, which begins half a minute after the drain").toBe("scheduled_retry");
    return ((contextSnapshot?.wakeCommentIds as string[] | undefined) ?? []).length > 0;
  });
  await company.update(word.id, { status: "cancelled" });
}

/** Runs that went on with the Job. */
async function adopters({ agent, run }: AtWork): Promise<Run[]> {
  const runs = await stage.company.runs(agent.id);
  const logs = await Promise.all(runs.map(async (each) => ({ each, text: await textOf(stage, each) })));
  return logs.filter(({ text }) => text.includes(`of run ${run.id};`)).map(({ each }) => each);
}

describe.concurrent("one drain and restart, and a comment around it", () => {
  let [folded, before, after] = [] as unknown as [AtWork, AtWork, AtWork];
  let retry: Run;
  /** The retry that a slow machine has let begin before the comment came. */
  let begun: Run | null = null;
  beforeAll(async () => {
    const three = () => Promise.all([begin("folded"), begin("superseded before"), begin("superseded after")] as const);
    const { works } = await drained(stage, three);
    [folded, before, after] = works;
    // The host starts the retries half a minute after the drain, so what comes before them comes at once.
    retry = await retryOf(stage, folded, "scheduled_retry");
    await Promise.all([commentOfAnAgent(folded, retry), comment(before)]);
    await stage.host.restart("SIGTERM");
    // One that was due when the server came back has begun; else the host looks again in half a minute.
    const { status } = await retryOf(stage, after);
    if (status !== "scheduled_retry") begun = await adopterOf(stage, after);
    await comment(after);
  });

  test("an agent's, while the retry waits: the retry takes the Job over, then answers it as a turn of its own", async () => {
    expect((await adopterOf(stage, folded)).id).toBe(retry.id);
    folded.goOn();
    const answer = await answerOf(folded);
    expect(answer.id).toBe(retry.id);
    const log = await textOf(stage, retry);
    expect(log).toContain("the first word");
    expect(log).toMatch(/was started before (a message|\d messages) that this run is to answer/);
    expect(await prompts(retry)).toEqual(["", expect.stringMatching(/^You are/)]);
    // Both turns are counted.
    expect(answer.usageJson?.outputTokens).toBeGreaterThan(114);
    await finish(folded);
  });

  // The run that takes the retry's place may be begun and stopped by the restart: then the issue is held for a run without a Job.
  test("a person's, before the restart: the Job is gone on with, and the comment is answered", async () => {
    const isHeld = async () => Boolean((await stage.company.issue(before.issue.id)).executionBlocker);
    await until("an adoption or a hold", async () => (await isHeld()) || (await adopters(before)).length > 0);
    const held = await isHeld();
    console.log(`the issue is ${held ? "held" : "free"}`);
    before.goOn();
    if (held) await released(before);
    await goneOnWith(before);
  });

  test("a person's, after the restart: the Job is gone on with, and the comment is answered", async () => {
    if (begun === null) {
      await until("the adoption", async () => (await adopters(after)).length > 0);
      after.goOn();
      await goneOnWith(after);
    } else {
      // The host's way with a retry under way: it cancels it, and the comment's own run goes on in its session.
      console.log("the retry had begun before the comment came");
      expect(await runEnd(stage.company, begun.id)).toMatchObject({ status: "cancelled" });
      after.goOn(); // what was stopped is begun anew
      await answerOf(after);
      await finish(after);
    }
  });
});

/** One run has taken the Job over and has its end; the comment is answered. */
async function goneOnWith(work: AtWork): Promise<void> {
  const [adopter] = await until("the adoption", async () => (await adopters(work)).length > 0 && adopters(work));
  expect(await runEnd(stage.company, adopter!.id)).toMatchObject({ status: "succeeded", errorCode: null });
  expect(await textOf(stage, adopter!)).toContain("the first word");
  await answerOf(work);
  expect(await adopters(work)).toHaveLength(1);
  await finish(work);
}

test("a comment while the issue is held: after recover the Job is settled from its files, and the comment is answered", async () => {
  const { company } = stage;
  const work = await begin("held");
  await stage.host.restart("SIGTERM");
  await until("the hold", async () => (await company.issue(work.issue.id)).executionBlocker);
  await comment(work);
  work.goOn();
  await released(work);
  const retry = await retryOf(stage, work);
  expect(await runEnd(company, retry.id)).toMatchObject({ status: "succeeded", errorCode: null });
  expect(await textOf(stage, retry)).toContain("the first word");
  await answerOf(work);
  await finish(work);
});
