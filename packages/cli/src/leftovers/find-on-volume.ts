import { existsSync } from "node:fs";
import { join } from "node:path";
import { ApiError, type ConnectOptions, type JobView, listJobsEverywhere } from "@paperclip-k8s/engine";
import { removeBundle, type StaleBundle, staleBundles } from "@paperclip-k8s/paperclip/bundles";
import { SELECTOR } from "@paperclip-k8s/paperclip/keys";
import type { Item } from "./item.ts";
import { judgeFiles } from "./judge-files.ts";
import { over, type Span } from "./judged.ts";
import { dataFolder, findRunFiles, foldersIn, type RunFileSet, removeRunFiles } from "./run-files.ts";

/** PAPERCLIP_HOME as seen from here, and the instance in it. */
export interface Place {
  readonly data: string | null;
  readonly instance: string;
}

/** What is on the volume, before anybody looks at the cluster. */
export interface OnVolume {
  readonly files: readonly RunFileSet[];
  readonly bundles: readonly StaleBundle[];
  /** Why nothing was looked at; null = it was. */
  readonly unseen: string | null;
}

export async function lookAtVolume({ data, instance }: Place, now: number): Promise<OnVolume> {
  const nothing = { files: [], bundles: [] };
  if (data === null) return { ...nothing, unseen: "files are not looked at: --data names the folder that is PAPERCLIP_HOME on the server" };
  const folder = dataFolder(data, instance);
  if (!existsSync(folder)) return { ...nothing, unseen: `files are not looked at: there is no ${folder}` };
  const companies = await foldersIn(join(folder, "prompt-bundles"));
  const bundles = await Promise.all(
    companies.map((company) => staleBundles({ root: data, folder: join(folder, "prompt-bundles", company) }, now)),
  );
  return { files: await findRunFiles(join(folder, "run-logs")), bundles: bundles.flat(), unseen: null };
}

export async function judgeVolume(
  cluster: ConnectOptions,
  seen: readonly JobView[],
  { files, bundles }: OnVolume,
  span: Span,
): Promise<Item[]> {
  const first = (everywhere: readonly JobView[] | null) => files.map((set) => ({ set, judged: judgeFiles(set, seen, everywhere, span) }));
  // Asked only where the end of a run is not on record.
  const everywhere = first(null).some(({ judged }) => judged?.state === "unproved") ? await jobsEverywhere(cluster) : null;
  const ofRuns = first(everywhere).flatMap(({ set, judged }): Item[] => {
    if (judged === null) return [];
    const remove = async () => removeRunFiles(set).then(() => "deleted" as const);
    return [{ kind: "files", name: set.name, since: set.writtenAt, bytes: set.bytes, judged, remove }];
  });
  const ofBundles = bundles.map((bundle): Item => {
    const remove = async () => ((await removeBundle(bundle, span.now)) ? "deleted" : "changed");
    const since = new Date(bundle.usedUntil).toISOString();
    return { kind: "bundle", name: bundle.path, since, bytes: null, judged: over("no run can need it any more"), remove };
  });
  return [...ofRuns, ...ofBundles];
}

async function jobsEverywhere(cluster: ConnectOptions): Promise<JobView[] | null> {
  try {
    return await listJobsEverywhere(cluster, SELECTOR);
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 403) return null;
    throw error;
  }
}
