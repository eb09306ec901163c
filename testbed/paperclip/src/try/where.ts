import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { agentsOf } from "../cluster/overlay.ts";
import { type ClusterStage, installAdapters, openClusterStage } from "../cluster/stage.ts";
import { adaptersOf } from "../host/adapters.ts";
import type { PackedAdapters } from "../packages/install.ts";
import { ROOT } from "../server/release.ts";
import { serverUser } from "../server/user.ts";
import { type AnyStage, openStage, type Stage, type StageOptions } from "../stage.ts";
import { guidedModel } from "./agents/guided-model.ts";
import { clusterOperator, embeddedOperator, type Operator } from "./operator.ts";
import { podProgress } from "./restart/progress.ts";
import { Restarter, type Restarting, RollOut } from "./restart/restart.ts";
import { openIssues } from "./runs/open-issues.ts";

/** What r does. */
export interface Restarts {
  /** In words, for the list of things to try. */
  readonly description: string;
  /** What there is to see besides the run that follows; ends with a comma, or is empty. */
  readonly look: string;
  /** It has ended by itself. */
  crashed(): void;
  restart(): Promise<void>;
}

export interface Opened {
  readonly stage: AnyStage;
  /** Installs the adapters that take the built-in ones' place, and those of our own types, which a visitor's agents can have. */
  install(): Promise<void>;
  /** Nobody here hears when the server ends by itself. */
  readonly isUnwatched: boolean;
  /** What becomes of a run while p has paused the adapters. */
  readonly whilePaused: string;
  /** Where to see it. */
  readonly pausedLook: string;
  /** How a person calls the operator's command line. */
  readonly command: string;
  restarts(session: Pick<Restarting, "staff" | "followed" | "say" | "stopped">): Restarts;
  /** Ends everything but what is kept; what stays, in words. */
  close(say: (line: string) => void): Promise<string>;
}

type TryOptions = Omit<StageOptions, "script" | "companyName">;

/** No adapter of ours is installed yet, and the model costs what a model costs. */
const BEFORE = { builtIn: true, asInCluster: true, priceFactor: 1, companyName: "Try it" } as const;

/** Belongs to the server's user, whom we become before there is anything to put in it. */
export function keptFolder(): string {
  const folder = join(ROOT, "testbed/paperclip/kept");
  mkdirSync(folder, { recursive: true });
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  return folder;
}

export async function openEmbedded(packed: PackedAdapters, options: TryOptions): Promise<Opened> {
  let opened: Stage | null = null;
  // The embedded cluster measures no memory: we say which pod has used too much.
  const outOfMemory = (pod: string) => void setTimeout(() => opened?.cluster.faults.oom(opened.namespace, pod), 1500);
  const stage = await openStage(packed, { ...options, ...BEFORE, script: guidedModel(outOfMemory) });
  opened = stage;
  const operator = embeddedOperator(stage, packed);
  return {
    stage,
    async install() {
      for (const name of [...packed.inPlace, ...packed.names]) await adaptersOf(stage.host).install(join(packed.folder, name));
    },
    isUnwatched: false,
    whilePaused: "Paperclip's own adapters run the same agents again, inside the server, as before the installation",
    pausedLook: "the commands in the transcript that say where the agent runs (click to open them)",
    command: operator.command,
    restarts: (session) => new Restarter({ ...session, host: stage.host, progress: () => podProgress(stage) }),
    async close(say) {
      if (options.keepAt === undefined) return stage.stop().then(() => "Nothing is left behind.");
      const open = await endInOrder(stage, operator.run, say).catch((error: unknown) => [`The server does not say what is open: ${error}`]);
      await stage.stop();
      return [
        `The data is in ${options.keepAt}. npm run paperclip -- --keep goes on with it; remove the folder when you no longer want it.`,
        ...open,
      ].join("\n  ");
    },
  };
}

/** Pods end with the embedded cluster, so their runs are detached first: the next start goes on with their issues. */
async function endInOrder(stage: Stage, run: Operator["run"], say: (line: string) => void): Promise<string[]> {
  const live = (await stage.company.allRuns()).some(({ status }) => status === "running");
  if (live) await run(["drain", "--reason", "the try-out ends"], (line) => say(`drain  ${line}`));
  const open = await openIssues(stage);
  return open.length === 0 ? ["Every issue is finished."] : ["Not finished:", ...open.map((line) => `  ${line}`)];
}

export async function openOnKube(packed: PackedAdapters, options: TryOptions, keep: boolean): Promise<Opened> {
  const stage = await openClusterStage(packed, { ...options, ...BEFORE, script: guidedModel(() => {}) });
  const operator = await clusterOperator(stage).catch(async (error: unknown) => {
    await stage.stop();
    throw error;
  });
  return {
    stage,
    install: () => installAdapters([...packed.inPlace, ...packed.names], stage.host),
    isUnwatched: true,
    whilePaused:
      "Paperclip's own adapters have the same agents again. This server's image has no agent CLIs, so the runs fail, and no agent runs inside the server",
    pausedLook: "the run that fails without its program, and that no Job was made",
    command: operator.command,
    restarts: (session) => new RollOut({ ...session, host: stage.host, deployed: stage.deployed }),
    async close() {
      operator.remove();
      if (keep) return leave(stage);
      await stage.stop();
      return "Nothing is left behind but the image in the cluster, until npm run kube:down.";
    },
  };
}

async function leave(stage: ClusterStage): Promise<string> {
  const { namespace } = stage.deployed;
  const { kubectl, kubeconfig } = stage.cluster;
  const open = await openIssues(stage).catch((error: unknown) => [`The server does not say what is open: ${error}`]);
  await stage.leave();
  return [
    `The server goes on in namespace ${namespace} until npm run kube:down or kubectl delete namespace ${namespace} ${agentsOf(namespace)}.`,
    `Its pages: ${kubectl} --kubeconfig ${kubeconfig} -n ${namespace} port-forward service/paperclip 3100`,
    "Its agents' model ended with this command: their next runs fail.",
    ...open,
  ].join("\n  ");
}
