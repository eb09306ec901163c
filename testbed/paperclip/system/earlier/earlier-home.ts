import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AdapterType } from "../../src/agent-kinds.ts";
import { adaptersOf } from "../../src/host/adapters.ts";
import type { Agent, Issue, Run } from "../../src/host/company.ts";
import { nextRun, runEnd } from "../../src/host/follow.ts";
import { type PackedAdapters, pathsOf } from "../../src/packages/install.ts";
import type { Version } from "../../src/server/release.ts";
import { openStage, PROGRAMS, type Stage } from "../../src/stage.ts";
import type { StandInSpec } from "./stand-in.ts";

/** A real host with agents that the earlier adapters have worked with. */
export interface EarlierHome extends Stage {
  /** Path of the policy that the server will have, and what it allows besides this cluster. */
  readonly policy: string;
  allow(more: Readonly<Record<string, readonly string[]>>): void;
  /** Our packages in place of the earlier ones, and a restart, as the upgrade guide says. */
  switchTo(packed: Pick<PackedAdapters, "folder" | "names">): Promise<void>;
}

export async function openEarlierHome(version: Version, specs: (stage: Stage) => readonly StandInSpec[]): Promise<EarlierHome> {
  const folder = mkdtempSync(join(tmpdir(), "earlier-adapters-"));
  try {
    // The CLIs and the agents' programs are in the server's path, as in an image that has all of it.
    const policy = join(folder, "policy.yaml");
    const env = { PATH: `${PROGRAMS}:${process.env.PATH}`, PAPERCLIP_K8S_POLICY: policy };
    const stage = await openStage({ folder, names: [] }, { version, env, say: (line) => console.log(line) });
    const stop = () => stage.stop().finally(() => rmSync(folder, { recursive: true, force: true }));
    try {
      for (const spec of specs(stage)) await adaptersOf(stage.host).install(standIn(folder, spec));
    } catch (error) {
      await stop();
      throw error;
    }
    const own = { kubeconfigs: [stage.cluster.kubeconfig], namespaces: [stage.namespace], claims: ["data"] };
    const allow: EarlierHome["allow"] = (more) => writeFileSync(policy, JSON.stringify({ allow: { ...own, ...more } }));
    allow({});
    const switchTo: EarlierHome["switchTo"] = async (packed) => {
      for (const path of pathsOf(packed)) await adaptersOf(stage.host).install(path);
      await stage.host.restart("SIGTERM");
    };
    return { ...stage, policy, allow, stop, switchTo };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A package of the earlier adapter's name, as the host installs it from a folder. */
function standIn(folder: string, spec: StandInSpec): string {
  const name = `paperclip-adapter-${spec.type.replace("_", "-")}`;
  const place = join(folder, name);
  mkdirSync(place);
  const manifest = { name, version: "0.2.5", type: "module", main: "stand-in.ts" };
  writeFileSync(join(place, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(place, "spec.json"), JSON.stringify(spec));
  copyFileSync(join(import.meta.dirname, "stand-in.ts"), join(place, "stand-in.ts"));
  return place;
}

/** An agent whose first turn an earlier adapter has seen to. */
export interface EarlierAgent {
  readonly agent: Agent;
  readonly issue: Issue;
  readonly run: Run;
}

export async function workedBefore(
  { company }: Stage,
  name: string,
  type: AdapterType,
  config: Readonly<Record<string, unknown>>,
): Promise<EarlierAgent> {
  const agent = await company.hire(name, type, config);
  const issue = await company.assign(agent.id, name, "bash:close-issue #");
  const run = await runEnd(company, (await nextRun(company, agent)).id);
  if (run.status !== "succeeded" || run.sessionIdAfter === null) throw new Error(`The first turn of ${name}: ${run.status} ${run.error}`);
  return { agent, issue, run };
}
