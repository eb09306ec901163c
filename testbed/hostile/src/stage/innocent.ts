import { chmod, mkdir, writeFile } from "node:fs/promises";
import { outputPath, stateFolder } from "@paperclip-k8s/paperclip/paths";
import { expect } from "vitest";
import { INNOCENT, MARK, type Orders } from "../orders.ts";
import type { ServerProcess, ServerRun } from "../server/server-process.ts";
import type { Stage } from "./stage.ts";

/** An agent of a company, with the workspace that the host gives it. */
export interface Agent {
  readonly id: string;
  readonly company: string;
}

export const workspaceOf = ({ bed }: Stage, { id }: Agent): string => `${bed.data}/instances/default/workspaces/${id}`;

/** As the host makes one: its user is the pods' user. */
export async function placeWorkspace(cwd: string): Promise<void> {
  await mkdir(cwd, { recursive: true });
  await chmod(cwd, 0o777);
  await writeFile(`${cwd}/AGENTS.md`, "the agent's own\n", { mode: 0o666 });
}

/** Starts a run of an agent, as the host would. */
export async function startRun(
  stage: Stage,
  server: ServerProcess,
  agent: Agent,
  run: {
    readonly orders: Omit<Orders, "url">;
    readonly config?: Record<string, unknown>;
    readonly task?: string;
    readonly name?: string;
    readonly session?: Record<string, unknown> | null;
  },
): Promise<ServerRun> {
  const cwd = workspaceOf(stage, agent);
  await placeWorkspace(cwd);
  const orders: Orders = { ...run.orders, url: stage.listener.url };
  const env = { ...(run.config?.env as object | undefined), ORDERS: JSON.stringify(orders) };
  return server.run({
    agent: agent.id,
    company: agent.company,
    name: run.name ?? agent.id,
    taskKey: run.task ?? "task-1",
    session: run.session ?? null,
    config: { ...stage.settings, ...run.config, env },
    context: { paperclipWorkspace: { cwd, source: "agent_home", agentHome: cwd } },
  });
}

/** A run that does known work beside attacks. */
export interface Innocent extends ServerRun {
  readonly agent: Agent;
  readonly output: string;
  readonly meta: string;
  readonly state: string;
  /** It is at work and nobody has written into its log. */
  untouched(): string;
  /** Lets it end. */
  release(): void;
  /** Lets it end, and compares all of it with what it is without attacks. */
  finish(): Promise<string>;
}

let count = 0;

export async function startInnocent(
  stage: Stage,
  server: ServerProcess,
  { company = "innocent-company", id = `innocent-${++count}`, task = "task-1" } = {},
): Promise<Innocent> {
  const agent: Agent = { id, company };
  const gate = `${id}-${task}-${Date.now()}`;
  const run = await startRun(stage, server, agent, { task, orders: { role: "innocent", gate, attacks: [], aim: { task } } });
  await run.saw(INNOCENT.before);
  const place = { dataPath: stage.bed.data, instanceId: "default" };
  const ctx = { runId: run.runId, agent: { id, companyId: company, name: id } };
  const output = outputPath(ctx, place, 1);
  const untouched = (): string => {
    expect(run.isOver(), `the innocent run has ended before its time: ${run.log()}`).toBe(false);
    expect(run.log()).not.toContain(MARK);
    return "at work";
  };
  return {
    ...run,
    agent,
    output,
    meta: `${output}.meta`,
    state: stateFolder(ctx, place, "agent", task),
    untouched,
    release: () => stage.listener.open(gate),
    finish: async () => {
      untouched();
      stage.listener.open(gate);
      const result = await run.done;
      expect(result, run.log()).toMatchObject({
        exitCode: 0,
        signal: null,
        timedOut: false,
        summary: INNOCENT.text,
        costUsd: INNOCENT.cost,
        sessionId: INNOCENT.session,
        resultJson: { outcome: "exited", output: { complete: true, problem: null } },
      });
      expect(result.errorCode ?? null).toBeNull();
      expect(`${run.log()}${JSON.stringify(result)}`).not.toContain(MARK);
      return "ended as without attacks";
    },
  };
}

/** What of the host lies on its volume; none of it is any agent's. */
export async function placeHostFiles({ bed }: Stage): Promise<Record<string, string>> {
  const instance = `${bed.data}/instances/default`;
  await mkdir(`${instance}/db`, { recursive: true });
  const files = {
    config: `${instance}/config.json`,
    masterKey: `${instance}/secrets/master.key`,
    plugins: `${bed.data}/adapter-plugins.json`,
  };
  await mkdir(`${instance}/secrets`, { recursive: true });
  for (const path of [...Object.values(files), `${instance}/db/PG_VERSION`]) await writeFile(path, "the host's own\n", { mode: 0o666 });
  return { ...files, database: `${instance}/db` };
}
