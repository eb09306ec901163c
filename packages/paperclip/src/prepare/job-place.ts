import { type JobView, listRuns, mayPass, messageOf, openNote, signNote, withVolume } from "@paperclip-k8s/engine";
import { parseFields } from "../agent-cli/json-fields.ts";
import { apiOfRun } from "../host/api.ts";
import { textOf } from "../host/context-values.ts";
import { ANNOTATION, LABEL, SELECTOR } from "../host/keys.ts";
import { jobNotePath, jobNotePaths } from "../host/paths.ts";
import { readRun, retriedRuns } from "../host/runs.ts";
import { UnusableVolume } from "../host/unusable-volume.ts";
import { checkKubeconfig } from "../policy/check-kubeconfig.ts";
import { Refusals } from "../policy/refusal.ts";
import type { RunInputs } from "./attempt.ts";

// A run is looked for in the namespace and cluster of its settings. Changed between a run and the one that continues it, they would hide a live Job.

/** The cluster and the namespace of a run's Job. */
export interface JobPlace {
  /** Null = the server's own access. */
  readonly kubeconfig: string | null;
  readonly namespace: string;
}

/** Whether the run that this one continues is still at work somewhere else could not be seen. */
export class UnseenJob extends Error {
  override readonly name = "UnseenJob";
}

/** Reasons with which the host resumes a task after a restart. */
export const RECOVERY_REASONS: ReadonlySet<string | null> = new Set([
  "process_lost_retry",
  "issue_continuation_needed",
  "issue_assignment_recovery",
  "issue_recovery_action_restored",
]);

/** Whether the host goes on with an earlier run, whose Job may be there. */
export const continuesRun = ({ context }: RunInputs["ctx"]): boolean =>
  textOf(context.retryOfRunId) !== null || RECOVERY_REASONS.has(textOf(context.wakeReason));

const TIMEOUT_MS = 10_000;
const MAX_NOTE_BYTES = 4096;

const placeOf = ({ config, inherited }: Pick<RunInputs, "config" | "inherited">): JobPlace => ({
  kubeconfig: config.kubeconfig,
  namespace: inherited.namespace,
});

const isSame = (a: JobPlace, b: JobPlace): boolean => a.kubeconfig === b.kubeconfig && a.namespace === b.namespace;

/** What is left in an attempt's folder for the run that continues it. Its pod can write there, so it is signed. */
export function placeNote(inputs: RunInputs, attempt: number): { readonly path: string; readonly text: string } {
  const { ctx, config, recordSecret } = inputs;
  const path = jobNotePath(ctx, config, attempt);
  return { path, text: signNote(recordSecret, path, placeOf(inputs)) };
}

/** Where a run that this one continues has its Job, if that is not where this run's own would be; null = nowhere else. */
export async function jobElsewhere(inputs: RunInputs): Promise<JobPlace | null> {
  const runs = await continuedRuns(inputs);
  const here = placeOf(inputs);
  const others: JobPlace[] = [];
  for (const place of await notedPlaces(inputs, runs)) if (![here, ...others].some((known) => isSame(known, place))) others.push(place);
  for (const place of others) if (await hasJob(inputs, place, runs)) return place;
  return null;
}

/** This one, which may have been started before, and those that it retries. */
async function continuedRuns({ ctx, serverEnv }: RunInputs): Promise<readonly string[]> {
  const first = textOf(ctx.context.retryOfRunId);
  const api = apiOfRun(ctx, serverEnv);
  const ids = [ctx.runId];
  // The nearest is known without the host, which may not answer now.
  const read = async (id: string) => (api === null ? null : readRun(api, id).catch(() => null));
  for await (const id of retriedRuns(first, read)) ids.push(id);
  return ids;
}

async function notedPlaces({ ctx, config, inherited, recordSecret }: RunInputs, runs: readonly string[]): Promise<JobPlace[]> {
  const root = inherited.claim.mountPath;
  const paths = runs.flatMap((id) => jobNotePaths(ctx, config, id));
  return withVolume(root, async (volume) => {
    const seen = await volume.run("lookAt", { paths }, TIMEOUT_MS).catch((error: Error) => {
      throw new UnusableVolume(`what earlier runs left on ${root} cannot be looked at: ${error.message}`, { cause: error });
    });
    const there = seen.filter(({ kind }) => kind === "file");
    const read = ({ path }: { readonly path: string }) =>
      volume.run("readFile", { path, links: "none", maxBytes: MAX_NOTE_BYTES }, TIMEOUT_MS).then(
        (text) => [readPlace(openNote(recordSecret, path, Buffer.from(text)))],
        (error: Error) => {
          // What an agent has put in its place says nothing; a volume in trouble may hide a live Job.
          if (mayPass(error)) throw new UnusableVolume(`${path} cannot be read: ${error.message}`, { cause: error });
          return [];
        },
      );
    return (await Promise.all(there.map(read))).flat().filter((place) => place !== null);
  });
}

function readPlace(note: string | null): JobPlace | null {
  const { kubeconfig, namespace } = parseFields(note ?? "") ?? {};
  return typeof namespace === "string" ? { namespace, kubeconfig: textOf(kubeconfig) } : null;
}

async function hasJob(inputs: RunInputs, place: JobPlace, runs: readonly string[]): Promise<boolean> {
  const { ctx, config, policy, serverEnv } = inputs;
  try {
    const refusals = new Refusals(policy);
    await checkKubeconfig({ ...config, kubeconfig: place.kubeconfig }, policy, serverEnv, refusals);
    refusals.check();
    const { jobs } = await listRuns({ kubeconfig: place.kubeconfig }, place.namespace, `${SELECTOR},${LABEL.agentId}=${ctx.agent.id}`);
    return jobs.some((job) => job.deletedAt === null && isOfRun(job, runs));
  } catch (error) {
    const cluster = place.kubeconfig === null ? "" : ` of kubeconfig ${place.kubeconfig}`;
    throw new UnseenJob(
      `the run that this one continues had its Job in namespace ${place.namespace}${cluster}, and whether it still works there cannot be seen: ` +
        `${messageOf(error)}. Make that possible again; if that cluster is gone, a comment starts a run that does not look there`,
      { cause: error },
    );
  }
}

function isOfRun({ annotations }: JobView, runs: readonly string[]): boolean {
  const owners = [
    annotations[ANNOTATION.runId],
    annotations[ANNOTATION.firstRun],
    ...(annotations[ANNOTATION.adoptedFrom]?.split(",") ?? []),
  ];
  return owners.some((id) => id !== undefined && runs.includes(id));
}

export const placeText = ({ namespace, kubeconfig }: JobPlace): string =>
  `namespace ${namespace}${kubeconfig === null ? "" : ` of the cluster in ${kubeconfig}`}`;
