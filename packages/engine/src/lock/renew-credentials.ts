import { isForbidden, isInvalid } from "../kube/api-error.ts";
import { labelPod, patchSecret } from "../kube/patches.ts";
import type { PodView } from "../kube/views.ts";
import { labelValue } from "../manifest/labels.ts";
import { secretName } from "../manifest/names.ts";
import { credentialsData } from "../manifest/secret.ts";
import { type RunContext, say } from "../run-context.ts";
import { retryInBackground } from "../start/retry-in-background.ts";
import { hasBegun } from "./has-begun.ts";
import type { Adoption } from "./take-over.ts";

const PAUSE_MS = 2000;

/** `owed`: not yet, for trouble that may pass. `impossible`: the agent keeps the token it has. */
export type Given = "given" | "owed" | "impossible";

/**
 * This run's token into the Secret of a Job it has taken over. Trouble is told, and is never the run's end.
 * A Secret that is still missing after `patience`: its submit was never finished, if no pod has run. One that has needs it no more.
 */
export async function giveCredentials(context: RunContext, taken: Adoption, patience: number): Promise<Given | "never-started"> {
  const { clock, io } = context;
  const leaving = AbortSignal.any([io.signal, ...(io.detach ? [io.detach] : [])]);
  const deadline = clock.now() + patience;
  for (let told = false; ; told = true) {
    try {
      if (await patchOnce(context, taken)) return "given";
    } catch (error) {
      if (!io.signal.aborted) tell(context, error instanceof Error ? error.message : String(error));
      return isHopeless(error) ? "impossible" : "owed";
    }
    if (leaving.aborted) return "owed";
    const begun = await hasBegun(context, taken.job, taken.files.meta);
    if (begun === true) tell(context, "somebody has deleted it");
    if (begun === true) return "impossible";
    if (clock.now() >= deadline) return begun === false ? "never-started" : "owed";
    if (!told) say(context, "warning", `the Job taken over has no Secret yet; waiting up to ${Math.round(patience / 1000)} s for it`);
    await clock.sleep(PAUSE_MS, leaving);
  }
}

function patchOnce({ connection, request, io }: RunContext, { job, nonce }: Adoption): Promise<boolean> {
  const name = secretName(job.name, nonce);
  const change = { labels: runLabel(request), data: credentialsData(request) };
  return patchSecret(connection, request.namespace, name, change, { signal: io.signal });
}

const isHopeless = (error: unknown): boolean => isForbidden(error) || isInvalid(error);

function tell(context: RunContext, reason: string): void {
  const cost = context.request.relay ? "; the agent keeps the token of the run before" : "";
  say(context, "warning", `the Secret of the Job taken over cannot be changed: ${reason}${cost}`);
}

/** What is left of the takeover, behind the run: the token where it is owed, and then the pod's label. */
export async function passOn(context: RunContext, taken: Adoption, given: Given): Promise<void> {
  if (given === "owed") {
    const isGiven = await retryInBackground(context, () => patchNow(context, taken), isHopeless);
    if (isGiven) say(context, "info", "the Secret of the Job taken over has this run's token now");
  }
  const pod = await runningPod(context);
  if (pod !== null) await relabel(context, pod);
}

async function patchNow(context: RunContext, taken: Adoption): Promise<void> {
  if (!(await patchOnce(context, taken))) throw new Error("there is no Secret");
}

/** The pod of the Job, once it is seen to be at work; null = the run is over. */
function runningPod({ run }: RunContext): Promise<PodView | null> {
  return new Promise((resolve) => {
    const look = () => {
      const { pod, overAt, outcome } = run.state;
      const isOver = overAt !== null || outcome !== null;
      if (!isOver && (pod === null || pod.deletedAt !== null)) return;
      stop();
      resolve(isOver ? null : pod);
    };
    const stop = run.onChange(look);
    look();
  });
}

/** A changed label makes the kubelet look at the pod's Secret within a second, not within a minute or two: so it comes after the token. */
async function relabel(context: RunContext, pod: PodView): Promise<void> {
  const { connection, request } = context;
  const label = async () => void (await labelPod(connection, request.namespace, pod, runLabel(request), { turn: "last" }));
  try {
    await label();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(context, "warning", `pod ${pod.name} cannot be labelled: ${reason}; the agent gets this run's token a minute or two late`);
    if (!isHopeless(error)) await retryInBackground(context, label, isHopeless);
  }
}

const runLabel = ({ keys, runId }: RunContext["request"]) => ({ [keys.runId]: labelValue(runId).value });
