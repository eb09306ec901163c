import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ConnectOptions, type JobView, listJobsEverywhere } from "@paperclip-k8s/engine";
import { removeBundle, type StaleBundle, staleBundles } from "@paperclip-k8s/paperclip/bundles";
import { SELECTOR } from "@paperclip-k8s/paperclip/keys";
import { dataFolder } from "@paperclip-k8s/paperclip/paths";
import type { Place } from "../arguments/values.ts";
import { unlessForbidden } from "../cluster/access.ts";
import { decideFiles, remove as mayGo, type Span } from "./decision.ts";
import type { Item } from "./item.ts";
import { findRunFiles, foldersIn, type RunFileSet, removeRunFiles, timeOf } from "./run-files.ts";

/** What is on the volume, before anybody looks at the cluster. */
interface OnVolume {
  readonly files: readonly RunFileSet[];
  readonly bundles: readonly StaleBundle[];
  /** Why nothing was looked at; null = it was. */
  readonly unseen: string | null;
}

export async function lookAtVolume({ data, instance }: Place, secret: Uint8Array | null, now: number): Promise<OnVolume> {
  const nothing = { files: [], bundles: [] };
  if (data === null) return { ...nothing, unseen: "files are not looked at: --data names the folder that is PAPERCLIP_HOME on the server" };
  const place = { dataPath: data, instanceId: instance };
  const bundlesFolder = dataFolder(place, "prompt-bundles");
  if (!existsSync(dirname(bundlesFolder))) return { ...nothing, unseen: `files are not looked at: there is no ${dirname(bundlesFolder)}` };
  const companies = await foldersIn(bundlesFolder);
  const bundles = await Promise.all(companies.map((company) => staleBundles({ root: data, folder: join(bundlesFolder, company) }, now)));
  return { files: await findRunFiles(dataFolder(place, "run-logs"), secret), bundles: bundles.flat(), unseen: null };
}

export async function decideVolume(
  cluster: ConnectOptions,
  seen: readonly JobView[],
  { files, bundles }: OnVolume,
  span: Span,
): Promise<Item[]> {
  const first = (everywhere: readonly JobView[] | null) =>
    files.map((set) => ({ set, decision: decideFiles(set, seen, everywhere, span) }));
  // Asked only where the end of a run is not on record.
  const isOpen = first(null).some(({ decision }) => decision?.kind === "keep");
  const everywhere = isOpen ? await listJobsEverywhere(cluster, SELECTOR).catch(unlessForbidden) : null;
  const ofRuns = first(everywhere).flatMap(({ set, decision }): Item[] => {
    if (decision === null) return [];
    const remove = async () => removeRunFiles(set).then(() => "deleted" as const);
    return [{ kind: "files", name: set.name, since: set.writtenAt, bytes: set.bytes, decision, remove }];
  });
  const ofBundles = bundles.map((bundle): Item => {
    const remove = async () => ((await removeBundle(bundle, span.now)) ? "deleted" : "changed");
    const since = timeOf(bundle.usedUntil);
    return { kind: "bundle", name: bundle.path, since, bytes: null, decision: mayGo("no run can need it any more"), remove };
  });
  return [...ofRuns, ...ofBundles];
}
