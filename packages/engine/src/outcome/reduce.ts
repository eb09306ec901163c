import type { OutcomeKind } from "../run-outcome.ts";
import { horizonOf, type Timeouts } from "../timeouts.ts";
import { endBeforeStart } from "./admission.ts";
import { conclude } from "./conclude.ts";
import { disruption } from "./disruption.ts";
import { cliEnd, hasEnded, outputIsSettled } from "./ended.ts";
import { evidence, ownEvidence } from "./evidence.ts";
import type { Observation } from "./observation.ts";
import { failedSidecar, hasRun, terminated, waitingContainer } from "./pod-facts.ts";
import { startFailure } from "./start-failure.ts";
import { startupProblem } from "./startup-problem.ts";
import { isCatchingUp, isCurrentView, type RunIdentity, type RunState, supersededBy } from "./state.ts";

/** Folds one fact into what is known, and decides, once, how the run ended. Nothing else decides that. */
export function reduce(state: RunState, seen: Observation, timeouts: Timeouts): RunState {
  if (state.outcome !== null) return state;
  const woken = atTime(state, seen.at, timeouts);
  if (seen.kind === "data-unreadable") return unreadable(woken, seen, timeouts);
  const noted = note(woken, seen);
  const known = { ...noted, lastProblem: startupProblem(noted) ?? noted.lastProblem };
  const ended = known.endedAt === null && !isCatchingUp(known, timeouts) && hasEnded(known, timeouts);
  const next = ended ? { ...known, endedAt: known.now } : known;
  // Until the run is followed, only the phases that make its Job can end it: a Job whose create is under way must not be forgotten.
  const kind = endBeforeStart(next, seen) ?? (next.followedAt === null ? null : (decide(next, timeouts) ?? detached(next)));
  return kind === null ? next : { ...next, outcome: { ...kind, evidence: evidence(next) } };
}

/** While a run is followed, ticks come all the time: a gap means that this process stood still, and what it knows may be out of date. */
function atTime(state: RunState, at: number, timeouts: Timeouts): RunState {
  const now = Math.max(state.now, at);
  const stoodStill = state.followedAt !== null && now - state.now >= timeouts.standstill;
  return stoodStill ? { ...state, now, standstill: { until: now, ms: now - state.now } } : { ...state, now };
}

/** The run ends with that as its reason, and its Job is left alone; one that is being cancelled is waited for as any other. Cannot throw. */
function unreadable(state: RunState, { what, error }: Extract<Observation, { kind: "data-unreadable" }>, timeouts: Timeouts): RunState {
  const kind: OutcomeKind | null =
    state.cancel === null
      ? { kind: "end-unknown", message: `what was learned of the run (${what}) cannot be read: ${error}` }
      : cancelOverdue(state, timeouts);
  return kind === null ? state : { ...state, outcome: { ...kind, evidence: ownEvidence(state) } };
}

/** A run that is being cancelled, or has ended already, is followed to its end, which is near unless its volume does not answer. */
function detached({ detach, cancel, endedAt, stalled }: RunState): OutcomeKind | null {
  if (detach === null || cancel !== null || (endedAt !== null && !stalled?.passes)) return null;
  return { kind: "detached", reason: detach.reason };
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
      return { ...state, apiLostAt: state.apiLostAt ?? state.now, apiProblem: seen.forPeople === true ? seen.error : null };
    case "api-back":
      return { ...state, apiLostAt: null, apiProblem: null, apiBackAt: state.now };
    case "start-record":
      return { ...state, startRecord: state.startRecord ?? seen.record };
    case "cli-started":
      return { ...state, cliStartedAt: state.cliStartedAt ?? state.now };
    case "state-record":
      if (seen.record.act === "restored") return { ...state, restored: state.restored ?? seen.record };
      return { ...state, savedPoint: seen.record.point ?? state.savedPoint };
    case "end-record":
      // Of unsigned ones the last may be the runner's own: it writes its only when the CLI is over.
      if (state.endRecord !== null && state.identity.records.kind === "signed") return state;
      return { ...state, endRecord: seen.record, endSeenAt: state.now };
    case "foreign-records":
      return { ...state, foreignRecords: state.foreignRecords + seen.count };
    case "output":
      if (seen.bytes <= state.delivered) return state;
      return {
        ...state,
        delivered: seen.bytes,
        deliveredSha256: seen.sha256,
        firstOutputAt: state.firstOutputAt ?? state.now,
        lastOutputAt: state.now,
      };
    case "drained":
      // Both files could be read, so the volume answers.
      return { ...answering(state), drained: { at: state.now, bytes: seen.bytes } };
    case "output-stalled":
      return { ...state, stalled: stalledBy(state, seen) };
    case "output-back":
      return answering(state);
    case "volume-room":
      return { ...state, volumeFull: seen.full };
    case "cancel-asked":
      return state.cancel !== null ? state : { ...state, cancel: { at: state.now, reason: seen.reason } };
    case "detach-asked":
      return state.detach !== null ? state : { ...state, detach: { reason: seen.reason } };
    case "orphan": {
      const others = state.orphans.filter((job) => job !== seen.job);
      return { ...state, orphans: seen.mayWork ? [...others, seen.job] : others };
    }
    case "lock-free":
      return { ...state, admittedAt: state.now };
    case "job-accepted":
      return {
        ...state,
        acceptedAt: state.now,
        orphans: [],
        job: seen.job,
        identity: { ...state.identity, jobName: seen.job.name, jobUid: seen.job.uid },
      };
    case "job-adopted":
      return { ...state, acceptedAt: state.now, job: seen.adoption.job, identity: adoptedIdentity(state.identity, seen) };
    case "follow-started":
      return { ...state, followedAt: state.followedAt ?? state.now };
    case "start-problem":
    case "left-before-job":
    case "data-unreadable":
    case "tick":
      return state;
  }
}

/** Of both files and all tries: one that passes is worth the wait. */
function stalledBy({ stalled, now }: RunState, { error, passes }: Extract<Observation, { kind: "output-stalled" }>): RunState["stalled"] {
  if (stalled === null) return { since: now, error, passes };
  return passes && !stalled.passes ? { ...stalled, error, passes } : stalled;
}

const answering = (state: RunState): RunState => (state.stalled === null ? state : { ...state, stalled: null, answeredAt: state.now });

/** Records and files of a Job that was adopted are those of the run that started it. */
function adoptedIdentity(identity: RunIdentity, { adoption, records }: Extract<Observation, { kind: "job-adopted" }>): RunIdentity {
  const { job, nonce, files, firstRun } = adoption;
  const image = job.images[identity.container] ?? identity.image;
  return { ...identity, jobName: job.name, jobUid: job.uid, nonce, files, firstRun, records, adopted: true, image };
}

/** A Job of the same name may be another's, made before or after ours. */
function isOurs(state: RunState, jobUid: string): boolean {
  return state.identity.jobUid !== null && state.identity.jobUid === jobUid;
}

function notePod(state: RunState, pod: NonNullable<RunState["pod"]>): RunState {
  const name = state.identity.container;
  const container = waitingContainer(pod, name)?.state;
  const reason = container?.kind === "waiting" ? (container.reason ?? "Waiting") : null;
  // Pull errors alternate between two reasons: the clock of the first goes on.
  const same = state.waiting !== null && reason !== null && family(state.waiting.reason) === family(reason);
  return {
    ...state,
    pod,
    podDeletionSeenAt: state.podDeletionSeenAt ?? (pod.deletedAt === null ? null : state.now),
    scheduledAt: state.scheduledAt ?? (pod.node === null ? null : state.now),
    ranAt: state.ranAt ?? (hasRun(pod, name) ? state.now : null),
    sidecarEndedAt: state.sidecarEndedAt ?? (failedSidecar(pod) === null ? null : state.now),
    waiting: reason === null ? null : { reason, since: same ? (state.waiting?.since ?? state.now) : state.now },
  };
}

function family(reason: string): string {
  return reason === "ImagePullBackOff" ? "ErrImagePull" : reason;
}

function decide(state: RunState, timeouts: Timeouts): OutcomeKind | null {
  const byRun = state.job === null ? null : supersededBy(state.identity, state.job);
  if (byRun !== null) return { kind: "superseded", byRun };
  if (isCatchingUp(state, timeouts)) return null;
  if (state.endedAt !== null)
    return (isExplained(state, timeouts) && outputIsSettled(state, timeouts)) || isPastHorizon(state, timeouts) ? conclude(state) : null;
  if (state.cancel !== null) return cancelOverdue(state, timeouts);
  return startFailure(state, timeouts) ?? nodeLost(state, timeouts) ?? podNotFound(state, timeouts) ?? beyondHorizon(state, timeouts);
}

/** A kill or a stop has a cause outside the CLI, which shows a moment later in the pod's status. */
function isExplained(state: RunState, timeouts: Timeouts): boolean {
  const end = cliEnd(state);
  const isCaused = end?.cause === "timeout" || end?.cause === "output-limit" || end?.cause === "runner-failed";
  const needsCause = end !== null && !isCaused && (end.cause === "stopped" || end.signal === "SIGKILL" || end.exitCode === 137);
  const isCause = state.cancel !== null || (end?.oomKills ?? 0) > 0 || disruption(state.pod, state.identity.container) !== null;
  const unexplained = end === null && state.cancel === null && (state.pod === null || isDeletedByNobody(state));
  if (unexplained) return state.now - (state.endedAt ?? state.now) >= timeouts.explain;
  if (!needsCause || isCause) return true;
  if (terminated(state.pod, state.identity.container) !== null && end.cause !== "stopped") return true;
  if (state.jobGoneAt !== null || (end.cause === "stopped" && state.job?.deletedAt != null)) return true;
  // A deletion is most of the explanation; who deleted it may be reported by the other watch a moment later.
  const timeoutMs = state.pod?.deletedAt == null ? timeouts.explain : timeouts.explain / 4;
  return state.now - (state.endedAt ?? state.now) >= timeoutMs;
}

/** The pod is deleted, and neither it nor its Job shows why yet: a deadline shows in the Job a moment after it has ended the pod. */
function isDeletedByNobody({ identity, pod, podGoneAt, job, jobGoneAt }: RunState): boolean {
  if ((podGoneAt === null && pod?.deletedAt == null) || disruption(pod, identity.container) !== null) return false;
  const failure = job?.conditions.FailureTarget ?? job?.conditions.Failed;
  return jobGoneAt === null && job?.deletedAt == null && failure === undefined && job?.suspended !== true;
}

/** Counted from when the Job could be deleted: its create may still have been under way when the cancel came, or this process stood still. */
function cancelOverdue(state: RunState, timeouts: Timeouts): OutcomeKind | null {
  if (state.cancel === null) return null;
  const since = Math.max(state.cancel.at, state.followedAt ?? 0, state.standstill?.until ?? 0);
  if (state.now - since < timeouts.cancel) return null;
  return { kind: "cancelled", reason: state.cancel.reason, exitCode: null, stopped: false };
}

/** The pod is marked deleted because its node is gone; it may still run there, so it must not be called ended. */
function nodeLost(state: RunState, timeouts: Timeouts): OutcomeKind | null {
  const disrupted = disruption(state.pod, state.identity.container);
  if (disrupted?.by !== "node-loss" || state.podDeletionSeenAt === null) return null;
  const since = Math.max(state.podDeletionSeenAt, state.lastOutputAt ?? 0);
  if (state.now - since < timeouts.nodeLoss) return null;
  return { kind: "killed", ...disrupted, message: `${disrupted.message}; the pod may still run there`, exitCode: null };
}

/** The adopted Job counts an active pod, but none is found. */
function podNotFound(state: RunState, timeouts: Timeouts): OutcomeKind | null {
  const { identity, job, jobGoneAt, pod, acceptedAt, now } = state;
  if (!identity.adopted || pod !== null || jobGoneAt !== null || !isCurrentView(state, timeouts) || (job?.active ?? 0) === 0) return null;
  if (acceptedAt === null || now - acceptedAt < timeouts.reattach) return null;
  return { kind: "reattach-failed", message: `Job ${identity.jobName} is live, but no pod of it was found` };
}

const isPastHorizon = (state: RunState, timeouts: Timeouts): boolean =>
  state.acceptedAt !== null && state.now - state.acceptedAt >= horizon(state, timeouts);

function beyondHorizon(state: RunState, timeouts: Timeouts): OutcomeKind | null {
  if (!isPastHorizon(state, timeouts)) return null;
  const disconnected = state.apiLostAt !== null ? "; the API server cannot be reached" : "";
  return { kind: "end-unknown", message: `Job ${state.identity.jobName} is past its deadline and its end was not seen${disconnected}` };
}

/** An adopted Job has the limits of the run it was started for. */
function horizon({ identity, job }: RunState, timeouts: Timeouts): number {
  if (!identity.adopted) return timeouts.horizon;
  return job === null || job.deadlineSeconds === null ? Number.POSITIVE_INFINITY : horizonOf(job.deadlineSeconds);
}
