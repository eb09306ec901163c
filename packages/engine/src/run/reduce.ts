import { conclude } from "./conclude.ts";
import { evidence } from "./evidence.ts";
import type { Observation } from "./observation.ts";
import type { OutcomeKind } from "./outcome.ts";
import { cliEnd, isOver, outputIsSettled } from "./over.ts";
import { disruption, mainContainer, terminated } from "./pod-facts.ts";
import type { Policy } from "./policy.ts";
import { startFailure } from "./start-failure.ts";
import type { RunState } from "./state.ts";

/** Folds one fact into what is known, and decides, once, how the run ended. Nothing else decides that. */
export function reduce(state: RunState, seen: Observation, policy: Policy): RunState {
  if (state.outcome !== null) return state;
  if (seen.kind === "not-submitted")
    return { ...state, now: seen.at, outcome: { ...seen.why, evidence: evidence({ ...state, now: seen.at }) } };
  const known = note({ ...state, now: Math.max(state.now, seen.at) }, seen);
  const over = isOver(known, policy);
  const next = over && known.overAt === null ? { ...known, overAt: known.now } : known;
  const kind = decide(next, policy);
  return kind === null ? next : { ...next, outcome: { ...kind, evidence: evidence(next) } };
}

function note(state: RunState, seen: Observation): RunState {
  switch (seen.kind) {
    case "job":
      if (!isOurs(state, seen.job.uid)) return state.acceptedAt === null ? state : { ...state, jobGoneAt: state.jobGoneAt ?? state.now };
      return { ...state, job: seen.job };
    case "job-gone":
      return { ...state, jobGoneAt: state.jobGoneAt ?? state.now };
    case "pod":
      return isOurs(state, seen.pod.jobUid) ? notePod(state, seen.pod) : state;
    case "pod-gone":
      if (!isOurs(state, seen.pod.jobUid)) return state;
      return { ...notePod(state, seen.pod), podGoneAt: state.podGoneAt ?? state.now };
    case "events":
      return { ...state, events: seen.events };
    case "api-lost":
      return { ...state, apiLostAt: state.apiLostAt ?? state.now };
    case "api-back":
      return { ...state, apiLostAt: null };
    case "start-record":
      return { ...state, startRecord: state.startRecord ?? seen.record };
    case "cli-started":
      return { ...state, cliStartedAt: state.cliStartedAt ?? state.now };
    case "end-record":
      return state.endRecord !== null ? state : { ...state, endRecord: seen.record, endSeenAt: state.now };
    case "output":
      if (seen.bytes <= state.delivered) return state;
      return { ...state, delivered: seen.bytes, firstOutputAt: state.firstOutputAt ?? state.now, lastOutputAt: state.now };
    case "drained":
      return { ...state, drained: { at: state.now, bytes: seen.bytes } };
    case "output-stalled":
      return { ...state, stalled: state.stalled ?? { since: state.now, error: seen.error } };
    case "output-back":
      return { ...state, stalled: null };
    case "cancel-asked":
      return state.cancel !== null ? state : { ...state, cancel: { at: state.now, reason: seen.reason } };
    case "not-submitted":
    case "tick":
      return state;
  }
}

/** A Job of the same name made by somebody else, before or after ours, is not ours. */
function isOurs(state: RunState, jobUid: string): boolean {
  return state.identity.jobUid !== null && state.identity.jobUid === jobUid;
}

function notePod(state: RunState, pod: NonNullable<RunState["pod"]>): RunState {
  const container = mainContainer(pod, state.identity.container)?.state;
  const reason = container?.kind === "waiting" ? (container.reason ?? "Waiting") : null;
  // Pull errors alternate between two reasons: the clock of the first goes on.
  const same = state.waiting !== null && reason !== null && family(state.waiting.reason) === family(reason);
  return {
    ...state,
    pod,
    podDoomedAt: state.podDoomedAt ?? (pod.deletedAt === null ? null : state.now),
    scheduledAt: state.scheduledAt ?? (pod.node === null ? null : state.now),
    waiting: reason === null ? null : { reason, since: same ? (state.waiting?.since ?? state.now) : state.now },
  };
}

function family(reason: string): string {
  return reason === "ImagePullBackOff" ? "ErrImagePull" : reason;
}

function decide(state: RunState, policy: Policy): OutcomeKind | null {
  const byRun = supersededBy(state);
  if (byRun !== null) return { kind: "superseded", byRun };
  if (state.overAt !== null)
    return isExplained(state, policy) && outputIsSettled(state, policy) ? conclude(state) : beyondHorizon(state, policy);
  if (state.cancel !== null) return cancelOverdue(state, policy);
  const failure = startFailure(state, policy);
  if (failure !== null) return { kind: "never-started", ...failure };
  return nodeLost(state, policy) ?? beyondHorizon(state, policy);
}

function supersededBy(state: RunState): string | null {
  const owner = state.job?.annotations[state.identity.runIdKey];
  return owner === undefined || owner === state.identity.runId ? null : owner;
}

/** A kill or a stop has a cause outside the CLI, which shows a moment later in the pod's status. */
function isExplained(state: RunState, policy: Policy): boolean {
  const end = cliEnd(state);
  const needsCause =
    end !== null && end.cause !== "timeout" && (end.cause === "stopped" || end.signal === "SIGKILL" || end.exitCode === 137);
  const isCause = state.cancel !== null || (end?.oomKills ?? 0) > 0 || disruption(state.pod) !== null;
  if (end === null && state.pod === null) return state.now - (state.overAt ?? state.now) >= policy.explain;
  if (!needsCause || isCause) return true;
  if (terminated(state.pod, state.identity.container) !== null && end.cause !== "stopped") return true;
  if (state.jobGoneAt !== null || (end.cause === "stopped" && state.job?.deletedAt != null)) return true;
  // A deletion mark is most of the answer; who set it may come by the other watch.
  const patience = state.pod?.deletedAt == null ? policy.explain : policy.explain / 4;
  return state.now - (state.overAt ?? state.now) >= patience;
}

function cancelOverdue(state: RunState, policy: Policy): OutcomeKind | null {
  if (state.cancel === null || state.now - state.cancel.at < policy.cancel) return null;
  return { kind: "cancelled", reason: state.cancel.reason, exitCode: null, stopped: false };
}

/** The pod is marked deleted because its node is gone; it may still run there, so nobody may call it over. */
function nodeLost(state: RunState, policy: Policy): OutcomeKind | null {
  const disrupted = disruption(state.pod);
  if (disrupted?.by !== "node-loss" || state.podDoomedAt === null) return null;
  const since = Math.max(state.podDoomedAt, state.lastOutputAt ?? 0);
  return state.now - since < policy.nodeLoss ? null : { kind: "killed", by: "node-loss", message: disrupted.message, exitCode: null };
}

function beyondHorizon(state: RunState, policy: Policy): OutcomeKind | null {
  if (state.acceptedAt === null || state.now - state.acceptedAt < policy.horizon) return null;
  const blind = state.apiLostAt !== null ? "; the API server cannot be reached" : "";
  return { kind: "lost-sight", message: `Job ${state.identity.jobName} is past its deadline and its end was not seen${blind}` };
}
