import { expect } from "vitest";
import type { AdapterType } from "../../src/agent-kinds.ts";
import type { Run } from "../../src/host/company.ts";
import { runEnd } from "../../src/host/follow.ts";
import type { Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";
import { type AtWork, atWork, closeAll, textOf } from "../agents/at-work.ts";
import { operator } from "../operator-cli.ts";
import { drained } from "./drained.ts";

/** Drains agents that stay at work again and again, so many runs in all. What each run returned must be on record, and the next one goes on with its Job. */
export async function drainRuns(stage: Stage, type: AdapterType, count: number, atOnce: number): Promise<void> {
  let works = await Promise.all(Array.from({ length: atOnce }, () => atWork(stage, "drained again", "echo finished", type)));
  for (let done = 0; done < count; ) {
    await keptByDrain(stage, works);
    works = await Promise.all(works.map((work) => takenOver(stage, work)));
    done += works.length;
    console.log(`${type}: ${done} of ${count} drains, every result kept`);
  }
  for (const { goOn } of works) goOn();
  for (const { run } of works) {
    expect(await runEnd(stage.company, run.id)).toMatchObject({ status: "succeeded", errorCode: null });
    expect(await textOf(stage, run)).toContain("finished");
  }
  await closeAll(stage);
}

async function keptByDrain(stage: Stage, works: readonly AtWork[]): Promise<void> {
  await drained(stage, async () => works);
  for (const { issue } of works) expect((await stage.company.issue(issue.id)).executionBlocker ?? null).toBeNull();
  await operator(stage, ["drain", "--undo"]);
}

/** The host's own retry would come half a minute later, and at most twice: the run for a person's comment comes at once, and as often as somebody comments. */
async function takenOver(stage: Stage, work: AtWork): Promise<AtWork> {
  await stage.company.comment(work.issue.id, "say:a word");
  const adopter = async (): Promise<Run | undefined> => {
    const runs = await stage.company.runs(work.agent.id);
    const logs = await Promise.all(runs.map((run) => textOf(stage, run)));
    return runs.find((_, index) => logs[index]?.includes(`of run ${work.run.id};`));
  };
  return { ...work, run: await until(`the adoption of ${work.run.id}`, adopter) };
}
