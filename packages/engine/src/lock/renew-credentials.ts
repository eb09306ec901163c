import { WAKE_UP_FILE } from "@paperclip-k8s/runner/wake-up";
import { isForbidden, isInvalid } from "../kube/api-error.ts";
import type { JobView, PodView } from "../kube/views.ts";
import { labelPod, patchSecret } from "../kube/writes.ts";
import { labelValue, secretName } from "../manifest/names.ts";
import { ownersData } from "../manifest/secret.ts";
import type { Adoption } from "../outcome/observation.ts";
import { hasRun } from "../outcome/pod-facts.ts";
import { retryInBackground, withTimeout } from "../retry.ts";
import { log, messageOf, type RunContext } from "../run-context.ts";

const PAUSE_MS = 2000;
const LOOK_TIMEOUT_MS = 5000;

/** `later`: not yet, for an error that may pass. `impossible`: the agent keeps the token it has. */
type Renewal = "done" | "later" | "impossible";

/**
 * Writes this run's token, and where this server takes wake-ups, into the Secret of a Job it has adopted. An error is logged and never ends the run.
 * `never-started`: the Secret is still missing after the timeout and no pod has run, so the Job was abandoned before it got its Secret.
 */
export async function renewCredentials(context: RunContext, adoption: Adoption, timeoutMs: number): Promise<Renewal | "never-started"> {
  const { clock, leaving } = context;
  const deadline = clock.now() + timeoutMs;
  for (let logged = false; ; logged = true) {
    try {
      if (await writeToken(context, adoption)) return "done";
    } catch (error) {
      if (!leaving.aborted) logFailure(context, messageOf(error));
      return isFinal(error) ? "impossible" : "later";
    }
    if (leaving.aborted) return "later";
    const begun = await hasBegun(context, adoption);
    if (begun === true) logFailure(context, "somebody has deleted it");
    if (begun === true) return "impossible";
    if (clock.now() >= deadline) return begun === false ? "never-started" : "later";
    if (!logged) log(context, "warning", `the Job taken over has no Secret yet; waiting up to ${Math.round(timeoutMs / 1000)} s for it`);
    await clock.sleep(PAUSE_MS, leaving);
  }
}

/** False = there is no Secret. */
async function writeToken({ connection, request, leaving, wakeUp }: RunContext, { job, nonce }: Adoption): Promise<boolean> {
  const { [WAKE_UP_FILE]: address = "", ...token } = ownersData(request, await wakeUp());
  const write = (data: Record<string, string>) =>
    patchSecret(connection, request.namespace, secretName(job.name, nonce), { labels: runLabel(request), data }, { signal: leaving });
  try {
    return await write({ ...token, [WAKE_UP_FILE]: address });
  } catch (error) {
    // An operator's admission policy of an earlier version lets nothing but the token be changed.
    if (!isForbidden(error)) throw error;
    return write(token);
  }
}

const isFinal = (error: unknown): boolean => isForbidden(error) || isInvalid(error);

function logFailure(context: RunContext, reason: string): void {
  const cost = context.request.relay ? "; the agent keeps the token of the run before" : "";
  log(context, "warning", `the Secret of the Job taken over cannot be changed: ${reason}${cost}`);
}

/** What is left of the renewal, while the run is followed: the token, if it could not be written yet, and then the pod's label. */
export async function finishRenewal(context: RunContext, adoption: Adoption, renewal: Renewal): Promise<void> {
  if (renewal === "later") {
    const write = async () => {
      if (!(await writeToken(context, adoption))) throw new Error("there is no Secret");
    };
    const end = await retryInBackground(context, write, isFinal);
    if (end === "done") log(context, "info", "the Secret of the Job taken over has this run's token now");
    else if (end !== "left") logFailure(context, messageOf(end.error));
  }
  const pod = await runningPod(context);
  if (pod !== null) await relabel(context, pod);
}

/** The Job's pod, once it is seen; null = the run has ended. */
function runningPod({ run }: RunContext): Promise<PodView | null> {
  return new Promise((resolve) => {
    const look = () => {
      const { pod, endedAt, outcome } = run.state;
      const hasEnded = endedAt !== null || outcome !== null;
      if (!hasEnded && (pod === null || pod.deletedAt !== null)) return;
      stop();
      resolve(hasEnded ? null : pod);
    };
    const stop = run.onChange(look);
    look();
  });
}

/** A changed label makes the kubelet read the pod's Secret again within a second, not within a minute or two. So it comes after the token. */
async function relabel(context: RunContext, pod: PodView): Promise<void> {
  const { connection, request } = context;
  const label = async () => void (await labelPod(connection, request.namespace, pod, runLabel(request), { priority: "last" }));
  try {
    await label();
  } catch (error) {
    log(
      context,
      "warning",
      `pod ${pod.name} cannot be labelled: ${messageOf(error)}; the agent gets this run's token a minute or two late`,
    );
    if (!isFinal(error)) await retryInBackground(context, label, isFinal);
  }
}

const runLabel = ({ keys, runId }: RunContext["request"]) => ({ [keys.runId]: labelValue(runId).value });

/** Whether a pod of an adopted Job has ever run, by the cluster and by the volume; null = one of them cannot tell. */
async function hasBegun(context: RunContext, { job, files }: Adoption): Promise<boolean | null> {
  const pods = await podsOf(context, job);
  if (pods?.some((pod) => hasRun(pod, context.request.container.name))) return true;
  const wrote = await hasWritten(context, files.meta);
  if (wrote === true) return true;
  return pods === null || wrote === null ? null : false;
}

async function podsOf(context: RunContext, { name, uid }: JobView): Promise<readonly PodView[] | null> {
  const { watch } = context;
  const ready = await withTimeout(
    context,
    LOOK_TIMEOUT_MS,
    watch.ready.then(() => true),
  ).catch(() => null);
  let isCurrent = ready === true;
  const pods = new Map<string, PodView>();
  const look = watch.subscribe(
    name,
    (fact) => {
      if (fact.kind === "pod") pods.set(fact.pod.uid, fact.pod);
      if (fact.kind === "api-lost") isCurrent = false;
    },
    uid,
  );
  look.close();
  return isCurrent ? [...pods.values()] : null;
}

/** The runner writes its first record before anything else it does. */
async function hasWritten({ volume }: RunContext, metaFile: string): Promise<boolean | null> {
  const tail = volume.tail(metaFile, { onBytes: () => {}, maxBytes: 1 });
  try {
    return (await tail.refresh(LOOK_TIMEOUT_MS)).delivered > 0;
  } catch {
    return null;
  } finally {
    tail.close();
  }
}
