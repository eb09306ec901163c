import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { agentsOf } from "../cluster/overlay.ts";
import { openClusterStage } from "../cluster/stage.ts";
import type { PackedAdapters } from "../install.ts";
import { ROOT } from "../release.ts";
import { type AnyStage, openStage, type StageOptions } from "../stage.ts";
import { serverUser } from "../user.ts";

export interface Opened {
  readonly stage: AnyStage;
  /** What stays, in words. */
  readonly left: string | null;
  close(): Promise<void>;
}

/** Belongs to the server's user, whom we become before there is anything to put in it. */
export function keptFolder(): string {
  const folder = join(ROOT, "testbed/paperclip/kept");
  mkdirSync(folder, { recursive: true });
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  return folder;
}

export async function openEmbedded(packed: PackedAdapters, options: StageOptions): Promise<Opened> {
  const stage = await openStage(packed, options);
  const left = options.keepAt === undefined ? null : `The data is in ${options.keepAt}; remove the folder when you no longer want it.`;
  return { stage, left, close: stage.stop };
}

export async function openOnKube(packed: PackedAdapters, options: StageOptions, keep: boolean): Promise<Opened> {
  const stage = await openClusterStage(packed, options);
  if (!keep) return { stage, left: "Nothing is left behind but the image in the cluster, until npm run kube:down.", close: stage.stop };
  const { namespace } = stage.deployed;
  const left =
    `The server goes on in namespace ${namespace} until npm run kube:down or kubectl delete namespace ${namespace} ${agentsOf(namespace)}; its pages: ` +
    `${stage.cluster.kubectl} --kubeconfig ${stage.cluster.kubeconfig} -n ${namespace} port-forward service/paperclip 3100`;
  return { stage, left, close: stage.leave };
}
