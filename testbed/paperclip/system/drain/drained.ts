import { expect } from "vitest";
import type { Stage } from "../../src/stage.ts";
import type { AtWork } from "../agents/at-work.ts";
import { drain, type Said } from "../operator-cli.ts";

interface Drained<T> {
  readonly works: T;
  readonly said: Said;
}

/** Agents at work whose runs the server has let go: what each run returned is on record. */
export async function drained<T extends readonly AtWork[] | readonly []>(
  stage: Stage,
  begin: () => Promise<T>,
  ...args: string[]
): Promise<Drained<T>> {
  const works = await begin();
  const said = await drain(stage, ...args);
  for (const { run } of works) {
    expect(await stage.company.run(run.id), said.out).toMatchObject({ status: "failed", errorCode: "k8s_detached", usageJson: null });
    expect(said.out).toContain(`detached  ${run.id}`);
  }
  expect(said.code, said.out).toBe(0);
  return { works, said };
}
