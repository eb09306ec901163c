import { isRefused } from "../cluster/api-error.ts";
import { labelPod, patchSecret } from "../cluster/patches.ts";
import { labelValue } from "../manifest/labels.ts";
import { secretName } from "../manifest/names.ts";
import { credentialsData } from "../manifest/secret.ts";
import { type RunContext, say } from "./io.ts";

const TRIES = 5;
const PAUSE_MS = 2000;

/**
 * This run's token into the Secret of a Job it has taken over. Trouble is told and tried on behind the run, never its end.
 * A Secret that is still missing after `patience`: its submit was never finished, so the pod cannot have started.
 */
export async function giveCredentials(context: RunContext, nonce: string, patience: number): Promise<"given" | "later" | "never-started"> {
  const { clock, io } = context;
  const leaving = AbortSignal.any([io.signal, ...(io.detach ? [io.detach] : [])]);
  const deadline = clock.now() + patience;
  for (let told = false; ; told = true) {
    try {
      if (await patchOnce(context, nonce)) return "given";
    } catch (error) {
      if (io.signal.aborted) return "later";
      tell(context, error);
      if (!isRefused(error)) void giveLater(context, nonce);
      return "later";
    }
    if (leaving.aborted) return "later";
    if (clock.now() >= deadline) return "never-started";
    if (!told) say(context, "warning", `the Job taken over has no Secret yet; waiting up to ${Math.round(patience / 1000)} s for it`);
    await clock.sleep(PAUSE_MS, leaving);
  }
}

function patchOnce({ connection, request, submission, io }: RunContext, nonce: string): Promise<boolean> {
  const name = secretName(submission.jobName, nonce);
  const change = { labels: runLabel(request), data: credentialsData(request) };
  return patchSecret(connection, request.namespace, name, change, { signal: io.signal });
}

async function giveLater(context: RunContext, nonce: string): Promise<void> {
  const { clock, run } = context;
  for (let tries = 1; tries < TRIES && run.state.outcome === null; tries++) {
    await clock.sleep(PAUSE_MS * tries);
    try {
      await patchOnce(context, nonce);
      return;
    } catch (error) {
      if (isRefused(error)) return;
    }
  }
}

function tell(context: RunContext, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  const cost = context.request.relay ? "; the agent keeps the token of the run before" : "";
  say(context, "warning", `the Secret of the Job taken over cannot be changed: ${reason}${cost}`);
}

/** A changed label makes the kubelet look at the pod's Secret within a second, not within a minute or two. */
export async function relabelPod(context: RunContext): Promise<void> {
  const { connection, request, run, clock } = context;
  for (let tries = 1; tries <= TRIES && run.state.outcome === null; tries++) {
    const { pod } = run.state;
    if (pod === null) return;
    try {
      await labelPod(connection, request.namespace, pod, runLabel(request));
      return;
    } catch (error) {
      if (tries === 1) {
        const reason = error instanceof Error ? error.message : String(error);
        say(context, "warning", `pod ${pod.name} cannot be labelled: ${reason}; the agent gets this run's token a minute or two late`);
      }
      if (isRefused(error)) return;
      await clock.sleep(PAUSE_MS * tries);
    }
  }
}

const runLabel = ({ keys, runId }: RunContext["request"]) => ({ [keys.runId]: labelValue(runId).value });
