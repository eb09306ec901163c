import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { agentsOf } from "../cluster/overlay.ts";
import { type ClusterStage, openClusterStage } from "../cluster/stage.ts";
import { call } from "../host/api.ts";
import type { PackedAdapters } from "../packages/install.ts";
import { ROOT } from "../server/release.ts";
import { serverUser } from "../server/user.ts";
import { type AnyStage, openStage, type Stage, type StageOptions } from "../stage.ts";
import { guidedModel } from "./agents/guided-model.ts";
import { embeddedOperator } from "./restart/operator.ts";
import { podProgress } from "./restart/progress.ts";
import { Restarter, type Restarting, RollOut } from "./restart/restart.ts";
import { openIssues } from "./runs/open-issues.ts";

/** What r does. */
export interface Restarts {
  /** In words, for the list of things to try. */
  readonly description: string;
  /** It has ended by itself. */
  crashed(): void;
  restart(): Promise<void>;
}

export interface Opened {
  readonly stage: AnyStage;
  /** How a person calls the operator's command line. */
  readonly command: string;
  restarts(session: Pick<Restarting, "staff" | "followed" | "say" | "stopped">): Restarts;
  /** Ends everything but what is kept; what stays, in words. */
  close(say: (line: string) => void): Promise<string>;
}

type TryOptions = Omit<StageOptions, "script" | "companyName">;

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
  const stage = await openStage(packed, { ...options, companyName: "Try it", script: guidedModel(outOfMemory) });
  opened = stage;
  const operator = embeddedOperator(stage, packed);
  return {
    stage,
    command: operator.command,
    restarts: (session) => new Restarter({ ...session, host: stage.host, operator, progress: () => podProgress(stage) }),
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
async function endInOrder(stage: Stage, run: ReturnType<typeof embeddedOperator>["run"], say: (line: string) => void): Promise<string[]> {
  const live = (await stage.company.allRuns()).some(({ status }) => status === "running");
  if (live) await run(["drain", "--reason", "the try-out ends"], (line) => say(`drain  ${line}`));
  const open = await openIssues(stage);
  return open.length === 0 ? ["Every issue is finished."] : ["Not finished:", ...open.map((line) => `  ${line}`)];
}

export async function openOnKube(packed: PackedAdapters, options: TryOptions, keep: boolean): Promise<Opened> {
  const stage = await openClusterStage(packed, { ...options, companyName: "Try it", script: guidedModel(() => {}) });
  const { namespace } = stage.deployed;
  const kubectl = `${stage.cluster.kubectl} --kubeconfig ${stage.cluster.kubeconfig} -n ${namespace}`;
  // In the server's container it lacks only this: a server that trusts nobody releases nothing without a key.
  const { token } = await call<{ token: string }>(stage.host, "POST", "/board-api-keys", { name: "try-out" });
  const command = `${kubectl} exec deploy/paperclip -- env PAPERCLIP_API_KEY=${token} paperclip-k8s`;
  return {
    stage,
    command,
    restarts: ({ say }) => new RollOut(stage.deployed, say),
    close: () =>
      keep
        ? leave(stage, kubectl)
        : stage.stop().then(() => "Nothing is left behind but the image in the cluster, until npm run kube:down."),
  };
}

async function leave(stage: ClusterStage, kubectl: string): Promise<string> {
  const { namespace } = stage.deployed;
  const open = await openIssues(stage).catch((error: unknown) => [`The server does not say what is open: ${error}`]);
  await stage.leave();
  return [
    `The server goes on in namespace ${namespace} until npm run kube:down or kubectl delete namespace ${namespace} ${agentsOf(namespace)}.`,
    `Its pages: ${kubectl} port-forward service/paperclip 3100`,
    "Its agents' model ended with this command: their next runs fail.",
    ...open,
  ].join("\n  ");
}
