import type { RunFiles } from "@paperclip-k8s/runner";
import { isRefused } from "../cluster/api-error.ts";
import { deleteJob } from "../cluster/calls.ts";
import { claimJob } from "../cluster/patches.ts";
import type { JobView } from "../cluster/views.ts";
import { labelValue } from "../manifest/labels.ts";
import { checkedPath, checkedRoot, runFiles } from "../output/paths.ts";
import { isFinished } from "./holder.ts";
import { type RunContext, say } from "./io.ts";
import type { OutcomeKind } from "./outcome.ts";
import { persist } from "./persist.ts";
import { giveCredentials } from "./take-credentials.ts";

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

/** `lost`: somebody else was first, or it is going. `removed`: it had never started. `denied`: this account may not. */
export type AdoptResult =
  | { readonly kind: "adopted"; readonly adoption: Adoption }
  | { readonly kind: "lost" | "removed" | "denied" }
  | { readonly kind: "refused"; readonly why: OutcomeKind };

/** Takes a Job over: its run id by compare-and-swap, then this run's token into its Secret. */
export async function adopt(context: RunContext, holder: JobView): Promise<AdoptResult> {
  const { request, run } = context;
  const known = marksOf(context, holder);
  if (known === null) return { kind: "refused", why: unreadable(context, holder) };
  const claimed = await claim(context, holder, known.fromRun);
  if (claimed === "denied") return { kind: "denied" };
  // Somebody else was first, or its own server has just deleted it.
  if (claimed === null || claimed.deletedAt !== null) return { kind: "lost" };
  if (!isFinished(claimed)) {
    const given = await giveCredentials(context, known.nonce, run.policy.secretless);
    if (given === "never-started") {
      await removeUnstarted(context, claimed);
      return { kind: "removed" };
    }
  }
  say(context, "info", `adopted Job ${request.namespace}/${claimed.name} of run ${known.fromRun}; its output is read from the beginning`);
  return { kind: "adopted", adoption: { job: claimed, ...known } };
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

async function claim(context: RunContext, holder: JobView, from: string): Promise<JobView | null | "denied"> {
  const { connection, request } = context;
  const { keys, runId } = request;
  const trail = [...(holder.annotations[keys.adoptedFrom]?.split(",") ?? []), from].slice(-MAX_TRAIL);
  const change = {
    uid: holder.uid,
    key: keys.runId,
    from,
    to: runId,
    label: labelValue(runId).value,
    annotations: from === runId ? {} : { [keys.adoptedFrom]: trail.join(",") },
  };
  try {
    return await persist(context, `Job ${holder.name} cannot be taken over`, () =>
      claimJob(connection, request.namespace, holder.name, change, { timeoutMs: CLAIM_TIMEOUT_MS }),
    );
  } catch (error) {
    if (!isRefused(error)) throw error;
    say(context, "warning", `Job ${holder.name} cannot be taken over: ${error.message}; waiting until it is gone`);
    return "denied";
  }
}

/** Not broken off by a cancel: a Job that is claimed must be known to be. */
const CLAIM_TIMEOUT_MS = 5000;
/** An annotation may be long, but nobody reads a list of hundreds. */
const MAX_TRAIL = 50;

function unreadable({ request }: RunContext, { name, annotations }: JobView): OutcomeKind {
  const byRun = annotations[request.keys.runId] ?? null;
  const message = `Job ${request.namespace}/${name}${byRun === null ? "" : ` of run ${byRun}`} does not say where below ${request.output.root} its output is`;
  return { kind: "blocked", message, byJob: name, byRun, code: null };
}

/** Without its Secret no pod of it can have started. */
async function removeUnstarted(context: RunContext, job: JobView): Promise<void> {
  const { connection, request, io } = context;
  say(context, "warning", `removing Job ${job.name}, which never got its Secret and so has not started`);
  const options = { uid: job.uid, propagation: "Foreground", signal: io.signal } as const;
  await persist(context, `Job ${job.name} cannot be removed`, () => deleteJob(connection, request.namespace, job.name, options));
}
