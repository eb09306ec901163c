import type { RunFiles } from "@paperclip-k8s/runner";
import { deleteJob } from "../kube/calls.ts";
import type { JobView } from "../kube/views.ts";
import { retryTransient } from "../retry.ts";
import { type RunContext, say } from "../run-context.ts";
import type { OutcomeKind } from "../run-outcome.ts";
import { notStarted } from "../start/not-started.ts";
import { checkedPath, checkedRoot, runFiles } from "../volume/paths.ts";
import { isFinished } from "./lock-owner.ts";
import { giveCredentials, passOn } from "./renew-credentials.ts";
import { type Claim, takeOwnership } from "./take-ownership.ts";

/** A Job that another run started and this one follows from now on. */
export interface Adoption {
  readonly job: JobView;
  /** The run it was taken from. */
  readonly fromRun: string;
  /** The run it was started for: its records bear that name. */
  readonly firstRun: string;
  readonly nonce: string;
  readonly files: RunFiles;
}

/** `removed`: it had never started. */
export type AdoptResult =
  | { readonly kind: "adopted"; readonly adoption: Adoption }
  | { readonly kind: "removed" }
  | Exclude<Claim, { readonly kind: "claimed" }>;

/** Takes a Job over: its run id by compare-and-swap, then this run's token into its Secret. */
export async function adopt(context: RunContext, holder: JobView): Promise<AdoptResult> {
  const { request, run } = context;
  const known = marksOf(context, holder);
  if (known === null) return { kind: "refused", why: unreadable(context, holder) };
  const claim = await takeOwnership(context, holder, known.fromRun);
  if (claim.kind !== "claimed") return claim;
  const adoption = { job: claim.job, ...known };
  if (!isFinished(claim.job)) {
    const given = await giveCredentials(context, adoption, run.timeouts.secretless);
    if (given === "never-started") return removeUnstarted(context, claim.job);
    void passOn(context, adoption, given);
  }
  say(context, "info", `adopted Job ${request.namespace}/${claim.job.name} of run ${known.fromRun}; its output is read from the beginning`);
  return { kind: "adopted", adoption };
}

/** Null = it does not say where its output is, or names a place outside our volume. */
function marksOf({ request }: RunContext, { annotations }: JobView): Omit<Adoption, "job"> | null {
  const { keys } = request;
  const fromRun = annotations[keys.runId];
  const nonce = annotations[keys.nonce];
  const output = annotations[keys.output];
  if (fromRun === undefined || nonce === undefined || output === undefined) return null;
  try {
    const files = runFiles(checkedPath(checkedRoot(request.output.root), output));
    return { fromRun, nonce, firstRun: annotations[keys.firstRun] ?? fromRun, files };
  } catch {
    return null;
  }
}

function unreadable({ request }: RunContext, { name, annotations }: JobView): OutcomeKind {
  const byRun = annotations[request.keys.runId] ?? null;
  const message = `Job ${request.namespace}/${name}${byRun === null ? "" : ` of run ${byRun}`} does not say where below ${request.output.root} its output is`;
  return { kind: "blocked", message, byJob: name, byRun, code: null };
}

/** Without its Secret no pod of it can have started. */
async function removeUnstarted(context: RunContext, job: JobView): Promise<AdoptResult> {
  const { connection, request, io } = context;
  say(context, "warning", `removing Job ${job.name}, which never got its Secret and so has not started`);
  const options = { uid: job.uid, propagation: "Foreground", signal: io.signal } as const;
  try {
    await retryTransient(context, `Job ${job.name} cannot be removed`, () => deleteJob(connection, request.namespace, job.name, options));
    return { kind: "removed" };
  } catch (error) {
    return { kind: "refused", why: notStarted("job-create-failed", `Job ${job.name}, which never started, could not be removed`, error) };
  }
}
