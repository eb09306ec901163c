import type { CliEnd, EndRecord, TerminationMessage } from "@paperclip-k8s/runner";
import { isFinished } from "../kube/views.ts";
import { isForgedTermination, ownTermination } from "../record-trust.ts";
import type { StateEvidence } from "../run-outcome.ts";
import type { Timeouts } from "../timeouts.ts";
import { hasStarted, podHasEnded, terminated } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

/** How the CLI ended, from the best source there is. Of unsigned runs the termination message comes first: only the run's own pod can write it. */
export function cliEnd(state: RunState): CliEnd | null {
  if (state.identity.records.kind === "signed") return state.endRecord ?? terminationMessage(state);
  return terminationMessage(state) ?? believedEnd(state);
}

/** The end record; null = there is none that counts. An unsigned one counts only when the pod has ended, and not against its exit code. */
export function believedEnd(state: RunState): EndRecord | null {
  const { endRecord, identity, endedAt } = state;
  if (endRecord === null || identity.records.kind === "signed") return endRecord;
  const container = terminated(state.pod, identity.container);
  return endedAt !== null && (container === null || leavesWith(endRecord, container.exitCode)) ? endRecord : null;
}

/** Whether the runner leaves its container with this code after such an end: after a signal it is beyond 128, as in a shell. */
function leavesWith({ exitCode }: EndRecord, containerCode: number): boolean {
  return exitCode === null ? containerCode > 128 : containerCode === exitCode;
}

/** The runner's termination message; null when the text is anything else: a log tail, an older program, a forgery. */
export function terminationMessage({ pod, identity }: RunState): TerminationMessage | null {
  return ownTermination(terminated(pod, identity.container)?.message ?? null, identity.nonce, identity.records);
}

export function isMessageForged({ pod, identity }: RunState): boolean {
  return isForgedTermination(terminated(pod, identity.container)?.message ?? null, identity.nonce, identity.records);
}

/** Whether bytes that the run's pod did not write are in the output, or bytes that it wrote were changed. */
export function isOutputForged(state: RunState): boolean {
  const end = state.identity.records.kind === "signed" ? countedEnd(state) : null;
  if (end?.outputSha256 == null || state.delivered < end.written) return false;
  // A volume that failed may have taken more than the runner knows of; such an output is not complete in any case.
  if (state.delivered > end.written) return end.written === end.bytes;
  return state.delivered > 0 && state.deliveredSha256 !== end.outputSha256;
}

/** Nothing of the run can still be running. What cannot be seen has not ended. */
export function hasEnded(state: RunState, timeouts: Timeouts): boolean {
  if (believedEnd(state) !== null) return true;
  if (podHasEnded(state.pod, state.identity.container)) return true;
  if (state.podGoneAt !== null) return true;
  const noPod = state.pod === null && state.startRecord === null;
  if (state.jobGoneAt !== null) return noPod || (state.now - state.jobGoneAt >= timeouts.podOutlivesJob && !isOrphaned(state));
  // A Job that was adopted may have ended, and its pod may be gone.
  return (noPod || (state.identity.adopted && state.pod === null)) && state.job !== null && isFinished(state.job);
}

/** Its Job was deleted without it (`--cascade=orphan`): nobody ends such a pod, so it is followed to its own end. */
export function isOrphaned({ jobGoneAt, pod, podGoneAt, identity }: RunState): boolean {
  return jobGoneAt !== null && pod !== null && pod.deletedAt === null && podGoneAt === null && !podHasEnded(pod, identity.container);
}

/** Bytes that must have been delivered before the output is complete; null when that is not known. */
export function expectedBytes(state: RunState): number | null {
  return countedEnd(state)?.bytes ?? null;
}

/** A runner that failed has counted nothing. */
function countedEnd(state: RunState): CliEnd | null {
  const end = cliEnd(state);
  return end?.cause === "runner-failed" ? null : end;
}

/** All output that ever reached the file is here, or no more can be expected. */
export function outputIsSettled(state: RunState, timeouts: Timeouts): boolean {
  const end = countedEnd(state);
  if (end !== null && state.delivered >= end.written && (believedEnd(state) !== null || hasFreshLook(state))) return true;
  const since = Math.max(state.endedAt ?? state.now, state.lastOutputAt ?? 0, state.answeredAt ?? 0);
  const limitMs = end !== null ? timeouts.missing : mayHaveWritten(state) ? timeouts.drain : 0;
  // Nothing but the volume is waited for, unless somebody waits for the end of a cancelled run.
  if (state.stalled?.passes && state.cancel === null && mayHaveWritten(state)) return state.now - since >= timeouts.volumeBack;
  if (state.now - since < limitMs) return false;
  return hasFreshLook(state) || state.stalled !== null || state.now - since >= timeouts.missing * 2;
}

/** A container that never ran has nothing on its way to the volume. */
function mayHaveWritten(state: RunState): boolean {
  return state.startRecord !== null || hasStarted(state.pod, state.identity.container);
}

function hasFreshLook(state: RunState): boolean {
  return state.drained !== null && state.endedAt !== null && state.drained.at >= state.endedAt;
}

/** What is known of the run's session; null = not even what it began with. */
export function stateEvidence(state: RunState): StateEvidence | null {
  const end = cliEnd(state)?.state ?? null;
  if (state.restored === null && end?.last == null) return null;
  return {
    restored: state.restored?.point ?? end?.restored ?? null,
    restoreMs: state.restored?.ms ?? end?.restoreMs ?? 0,
    // After a SIGKILL, what the CLI did since the last save is gone.
    saved: end?.saved ?? false,
    last: end?.last ?? state.savedPoint ?? state.restored?.point ?? null,
    saveMs: end?.saveMs ?? null,
    error: end?.error ?? null,
  };
}
