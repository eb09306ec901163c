import { expect } from "vitest";
import type { Run } from "../src/company.ts";
import type { Stage } from "../src/stage.ts";
import { type AtWork, closeAll } from "./at-work.ts";
import { drain, type Said } from "./operator-cli.ts";

const ATTEMPTS = 4;

export interface Drained<T> {
  readonly works: T;
  readonly said: Said;
}

/**
 * Agents at work whose runs the server has let go. The host's own database may meet a deadlock and lose what a run has returned: that is not
 * our doing, but we must have listed that run as left; then others are started.
 */
export async function drained<T extends readonly AtWork[] | readonly []>(
  stage: Stage,
  begin: () => Promise<T>,
  ...args: string[]
): Promise<Drained<T>> {
  for (let attempt = 1; ; attempt += 1) {
    const works = await begin();
    const said = await drain(stage, ...args);
    const runs = await Promise.all(works.map(({ run }) => stage.company.run(run.id)));
    const lost = runs.filter(lostByTheHost);
    toldTruly(said, runs, lost);
    if (lost.length === 0) return { works, said };
    console.log(`the host's database lost the end of ${lost.length} of ${runs.length} runs: ${lost[0]?.error?.slice(0, 200)}`);
    if (attempt === ATTEMPTS) throw new Error(`the host's database lost the end of a run in each of ${ATTEMPTS} drains`);
    for (const { goOn } of works) goOn();
    await closeAll(stage);
  }
}

/** The host had an error of its own while it wrote down what the run has returned. */
export const lostByTheHost = ({ status, errorCode, error }: Run): boolean =>
  status === "failed" && errorCode === "adapter_failed" && /^Failed query: |deadlock detected/.test(error ?? "");

function toldTruly(said: Said, runs: readonly Run[], lost: readonly Run[]): void {
  for (const run of runs) {
    if (lost.includes(run)) expect(said.out).toMatch(new RegExp(`left +${run.id}`));
    else {
      expect(run).toMatchObject({ status: "failed", errorCode: "k8s_detached", usageJson: null });
      expect(said.out).toContain(`detached  ${run.id}`);
    }
  }
  expect(said.code, said.out).toBe(lost.length === 0 ? 0 : 3);
}
