import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { runEnd } from "../src/host/follow.ts";
import type { Version } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { type AtWork, adopterOf, atWork, closeAll, nothingLeft, retryOf, textOf } from "./agents/at-work.ts";
import { jobOver } from "./agents/job-over.ts";
import { ELDER, LONG, NEWEST } from "./breadth.ts";
import { drained } from "./drain/drained.ts";
import { drain, operator, recover } from "./operator-cli.ts";

// The operator's command line and the server's restarts: what nobody has to do, and what one command does.

let stage: Stage;

afterEach(() => closeAll(stage));

async function openOn(version: Version): Promise<void> {
  dropRoot();
  stage = await openStage(inject("packed"), { version, say: (line) => console.log(line) });
}

describe(`Paperclip ${NEWEST}`, () => {
  beforeAll(() => openOn(NEWEST));
  afterAll(() => stage?.stop());

  test("drain, restart: the retry comes by itself, takes the Job over, and its agent closes the issue; twice in one run", async () => {
    const begin = async () => [await atWork(stage, "drained", "close-issue")] as const;
    const adopted = async () => {
      const { works } = await drained(stage, begin, "--reason", "the server is being upgraded");
      await stage.host.restart("SIGTERM");
      return [{ ...works[0], run: await adopterOf(stage, works[0]) }] as const;
    };
    const { works, said } = await drained(stage, adopted);
    expect(said.out).toMatch(/detached 1 run\nnew runs are not started here for 10 minutes, or until: paperclip-k8s drain --undo\n$/);
    const [begun] = works;
    await stage.host.restart("SIGTERM");
    const third = await adopterOf(stage, begun);
    // The host would not go on a third time: left to recover.
    expect(await drain(stage)).toMatchObject({
      code: 3,
      out: expect.stringMatching(new RegExp(`left +${third.id}`)),
    });
    begun.goOn();
    expect(await runEnd(stage.company, third.id)).toMatchObject({ status: "succeeded", errorCode: null });
    expect(await textOf(stage, third)).toContain("200 closed");
    expect(await stage.company.issue(begun.issue.id)).toMatchObject({ status: "done" });
    await nothingLeft(stage, begun.agent);
  });

  test("recover releases what is over, not what lives; the next run settles the Job from its files", async () => {
    const [over, alive] = await Promise.all([
      atWork(stage, "over", "echo finished"),
      atWork(stage, "alive", "echo finished", "claude_k8s"),
    ]);
    await stage.host.restart("SIGTERM");
    const held = async ({ issue }: AtWork) => (await stage.company.issue(issue.id)).executionBlocker;
    for (const one of [over, alive]) await until("the hold", () => held(one));
    expect(await recover(stage)).toMatchObject({ code: 3, out: expect.stringMatching(/2 issues held, 0 to be released/) });

    over.goOn();
    await jobOver(stage, over);
    expect(await recover(stage, "--dry-run")).toMatchObject({ code: 3, out: expect.stringMatching(/2 issues held, 1 to be released/) });
    expect(await held(over)).toBeTruthy();
    const released = await recover(stage);
    expect(released).toMatchObject({ code: 3, out: expect.stringContaining("released (completed") });
    expect(await held(over)).toBeFalsy();
    expect(await held(alive)).toBeTruthy();
    const next = await retryOf(stage, over);
    expect(await runEnd(stage.company, next.id)).toMatchObject({
      status: "succeeded",
      contextSnapshot: { wakeReason: "issue_recovery_action_restored" },
    });
    for (const text of ["adopted Job", "finished"]) expect(await textOf(stage, next)).toContain(text);

    const watched = await operator(stage, ["recover", "-n", stage.namespace, "--watch", "--every", "2s"], async (said) => {
      await until("the first list", async () => said().includes("1 issue held"));
      alive.goOn();
      await until("the release", async () => said().includes("released ("));
    });
    expect(watched).toMatchObject({ code: 0, out: expect.stringMatching(/alive: its pod runs[^#]*: released \(completed/) });
    expect(await runEnd(stage.company, (await retryOf(stage, alive)).id)).toMatchObject({ status: "succeeded" });
    expect((await recover(stage)).out).toMatch(
      /^no issue is held \(\d+ open issues? in \d+ compan(y|ies) looked at\); Jobs looked for in namespace/,
    );
  });
});

describe.runIf(LONG)(`Paperclip ${ELDER}`, () => {
  beforeAll(() => openOn(ELDER));
  afterAll(() => stage?.stop());

  test("drain leaves runs alone: the host starts them again by itself", async () => {
    const begun = await atWork(stage, "elder", "close-issue");
    expect(await drain(stage)).toMatchObject({ code: 3, out: expect.stringContaining(`left    ${begun.run.id}`) });
    expect(await stage.company.run(begun.run.id)).toMatchObject({ status: "running" });
    await stage.host.restart("SIGTERM");
    const next = await adopterOf(stage, begun);
    begun.goOn();
    expect(await runEnd(stage.company, next.id)).toMatchObject({ status: "succeeded" });
    expect(await stage.company.issue(begun.issue.id)).toMatchObject({ status: "done" });
  });
});
