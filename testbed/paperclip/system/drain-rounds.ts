import { expect } from "vitest";
import type { AdapterType } from "../src/agent-kinds.ts";
import type { Stage } from "../src/stage.ts";
import { type AtWork, adopterOf, atWork, closeAll } from "./at-work.ts";
import { drain, operator } from "./operator-cli.ts";

/** Each agent's run is drained, the run that takes its Job over too. */
const DRAINS_EACH = 2;

/** Drains live runs until that many results were returned in a drain; each must be on record as it was returned. The server stays. */
export async function drainRuns(stage: Stage, type: AdapterType, count: number, atOnce: number): Promise<void> {
  for (let done = 0; done < count; ) {
    const agents = Math.min(atOnce, Math.ceil((count - done) / DRAINS_EACH));
    let works = await Promise.all(Array.from({ length: agents }, () => atWork(stage, "drained again", "echo over", type)));
    for (let turn = 1; ; turn += 1) {
      await keptByDrain(stage, works);
      done += agents;
      console.log(`${type}: ${done} of ${count} drains, every result kept`);
      if (turn === DRAINS_EACH || done >= count) break;
      works = await Promise.all(works.map((work) => takenOver(stage, work)));
    }
    await closeAll(stage);
    for (const { goOn } of works) goOn();
  }
}

async function keptByDrain(stage: Stage, works: readonly AtWork[]): Promise<void> {
  const said = await drain(stage);
  for (const { run, issue } of works) {
    expect(await stage.company.run(run.id), said.out).toMatchObject({ status: "failed", errorCode: "k8s_detached" });
    expect(said.out).toContain(`detached  ${run.id}`);
    expect((await stage.company.issue(issue.id)).executionBlocker ?? null).toBeNull();
  }
  expect(said.code, said.out).toBe(0);
  await operator(stage, ["drain", "--undo"]);
}

/** A person's comment takes the place of the retry, which would come half a minute later, and goes on with the Job. */
async function takenOver(stage: Stage, work: AtWork): Promise<AtWork> {
  await stage.company.comment(work.issue.id, "say:a word");
  return { ...work, run: await adopterOf(stage, work) };
}
