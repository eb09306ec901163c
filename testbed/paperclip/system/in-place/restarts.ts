import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { cliNames } from "../../../../packages/adapters.ts";
import { KINDS, plainEnv } from "../../src/agent-kinds.ts";
import { adaptersOf } from "../../src/host/adapters.ts";
import type { Agent, Issue } from "../../src/host/company.ts";
import type { PackedAdapters } from "../../src/packages/install.ts";
import { builtInConfig, type Stage } from "../../src/stage.ts";
import { until } from "../../src/wait.ts";

/** A host that is back within a minute takes a killed server's runs for its own for five. */
const AWAY_MS = 75_000;

/** What became of the live runs of one restart. */
export interface Round {
  readonly done: number;
  readonly held: number;
  /** CLIs that were started more than once. */
  readonly again: number;
  readonly runs: number;
}

/** One agent of each CLI. `kind`: of the built-in types, in whose place ours are, or of our own. */
export async function hireBoth(
  stage: Stage,
  packed: Pick<PackedAdapters, "folder" | "names" | "inPlace">,
  kind: "in place" | "own",
): Promise<Agent[]> {
  const { company, llm, host } = stage;
  for (const name of kind === "own" ? packed.names : packed.inPlace) await adaptersOf(host).install(join(packed.folder, name));
  return Promise.all(
    cliNames.map((cli) => {
      const { env, ...config } = builtInConfig(llm, `${cli}_k8s`);
      const settings = { ...config, env: { ...(env as object), ...plainEnv(KINDS[`${cli}_k8s`].longCommands) } };
      return company.hire(`${kind} ${cli}`, kind === "own" ? `${cli}_k8s` : `${cli}_local`, settings);
    }),
  );
}

let rounds = 0;

/** The server goes away under `count` live runs and comes back; then every agent may finish. Nobody acts. */
export async function restartRound(stage: Stage, agents: readonly Agent[], signal: "SIGTERM" | "SIGKILL", count: number): Promise<Round> {
  const { company, host } = stage;
  const round = ++rounds;
  const gate = join(host.home.path, `round-${round}`);
  const startsOf = (index: number) => `start-${round}-${index}.`;
  const issues: Issue[] = [];
  for (let index = 0; index < count; index++) {
    // Without signs that a prompt in JSON has other names for.
    const command = `mktemp ${join(host.home.path, startsOf(index))}XXXXXX; until test -e ${gate}; do sleep 0.5; done; close-issue`;
    issues.push(await company.assign(agents[index % agents.length]!.id, `Round ${round}, task ${index}`, `bash:${command} #`));
  }
  const starts = (index: number): number => readdirSync(host.home.path).filter((name) => name.startsWith(startsOf(index))).length;
  await until(`${count} agents at work`, async () => issues.every((_, index) => starts(index) > 0));
  await host.end(signal);
  if (signal === "SIGKILL") await sleep(AWAY_MS);
  await host.start();
  writeFileSync(gate, "");
  const isOver = async ({ id }: Issue): Promise<boolean> => {
    const { status, executionBlocker } = await company.issue(id);
    return status === "done" || status === "blocked" || executionBlocker != null;
  };
  await until(`the end of round ${round}`, async () => (await Promise.all(issues.map(isOver))).every(Boolean));
  const ends = await Promise.all(issues.map(({ id }) => company.issue(id)));
  const held = ends.filter(({ status, executionBlocker }) => status === "blocked" || executionBlocker != null);
  const all = (await Promise.all(agents.map(({ id }) => company.runs(id)))).flat();
  return {
    done: ends.filter(({ status }) => status === "done").length,
    held: held.length,
    again: issues.filter((_, index) => starts(index) > 1).length,
    runs: all.filter(({ contextSnapshot }) => issues.some(({ id }) => id === contextSnapshot?.issueId)).length,
  };
}

/** Nobody had to do anything. */
export const expectUntouched = (round: Round, count: number): void => expect(round).toMatchObject({ done: count, held: 0, again: 0 });
