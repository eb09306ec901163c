import type { EndRecord, RunFiles, StartRecord, StatePoint, StateRecord } from "@paperclip-k8s/runner";
import type { EventView, JobView, PodView } from "../kube/views.ts";
import type { RecordTrust } from "../record-trust.ts";
import type { RunOutcome, StartFailure } from "../run-outcome.ts";
import type { Timeouts } from "../timeouts.ts";

/** All that is known about one run. Facts only ever add to it; `outcome` is set once and ends it. */
export interface RunState extends Learned {
  readonly identity: RunIdentity;
  /** When the run was asked for; timings are counted from here. */
  readonly askedAt: number;
  readonly now: number;
}

/** What is learned while the run goes on, with the values that it has before. */
class Learned {
  /** Jobs, by uid, that are this run's to take over as far as is known, and whose agent may be at work; null = one that was not looked for yet. */
  readonly orphans: readonly (string | null)[] = [];
  readonly admittedAt: number | null = null;
  readonly acceptedAt: number | null = null;
  /** When the Job had its Secret, or was adopted, and following it began. */
  readonly followedAt: number | null = null;
  readonly job: JobView | null = null;
  readonly jobGoneAt: number | null = null;
  /** The last that was seen of the pod, kept when it is gone. */
  readonly pod: PodView | null = null;
  readonly podGoneAt: number | null = null;
  /** When the pod was first seen marked for deletion; its own timestamp is the end of its grace. */
  readonly podDeletionSeenAt: number | null = null;
  readonly scheduledAt: number | null = null;
  /** When the container was first seen running or ended: a later status may have forgotten it. */
  readonly ranAt: number | null = null;
  /** What the container waits for and since when, to distinguish a short delay from a fault. */
  readonly waiting: { readonly reason: string; readonly since: number } | null = null;
  /** When a sidecar was first seen to have ended before the main container had started. */
  readonly sidecarEndedAt: number | null = null;
  /** What last kept the pod from starting, passed or not: the end of a pod hides it. */
  readonly lastProblem: StartupProblem | null = null;
  readonly events: readonly EventView[] = [];
  readonly apiLostAt: number | null = null;
  /** When the API server was last reached again after an outage. */
  readonly apiBackAt: number | null = null;
  /** The last time for which this server's own process did not run. */
  readonly standstill: { readonly until: number; readonly ms: number } | null = null;
  /** Why it is not reached, in a text for people: a missing permission, or a server that does not answer. */
  readonly apiProblem: string | null = null;
  readonly startRecord: StartRecord | null = null;
  readonly cliStartedAt: number | null = null;
  /** What the CLI began with. */
  readonly restored: StateRecord | null = null;
  /** The last state that was saved while the CLI ran. */
  readonly savedPoint: StatePoint | null = null;
  readonly endRecord: EndRecord | null = null;
  readonly endSeenAt: number | null = null;
  /** How many lines of the meta file were not written by the run's pod. */
  readonly foreignRecords: number = 0;
  readonly delivered: number = 0;
  /** SHA-256 of the output delivered so far; null = none was delivered yet. */
  readonly deliveredSha256: string | null = null;
  readonly firstOutputAt: number | null = null;
  readonly lastOutputAt: number | null = null;
  /** The last complete reading of the files that began after the run was known to have ended. */
  readonly drained: { readonly at: number; readonly bytes: number } | null = null;
  readonly stalled: { readonly since: number; readonly error: string; readonly passes: boolean } | null = null;
  readonly volumeFull: boolean = false;
  /** When the volume last answered again. */
  readonly answeredAt: number | null = null;
  readonly cancel: { readonly at: number; readonly reason: string } | null = null;
  readonly detach: { readonly reason: string } | null = null;
  /** First moment at which the run was known to have ended. */
  readonly endedAt: number | null = null;
  readonly outcome: RunOutcome | null = null;
}

/** What distinguishes this run's objects from those of others. */
export interface RunIdentity {
  readonly runId: string;
  readonly runIdKey: string;
  readonly adoptedFromKey: string;
  readonly nonce: string;
  readonly namespace: string;
  readonly jobName: string;
  readonly jobUid: string | null;
  readonly files: RunFiles;
  /** The run its Job was started for, whose id is in its records; another run where the Job was adopted. */
  readonly firstRun: string;
  /** How its records are known to be its own. */
  readonly records: RecordTrust;
  readonly adopted: boolean;
  readonly container: string;
  /** What the container starts. */
  readonly program: string;
  readonly image: string;
  /** Names of the containers that its pod template has beside the run's own. */
  readonly sidecars: readonly string[];
}

export function initialState(identity: RunIdentity, askedAt: number): RunState {
  return { ...new Learned(), identity, askedAt, now: askedAt };
}

/** What keeps a pod from starting, as it stands now. */
export interface StartupProblem {
  readonly cause: StartFailure;
  /** For the log, while it may still pass: cause first, then what to change. */
  readonly text: string;
  /** For the result, when it has not passed. */
  readonly message: string;
  /** Only a change of the request or the cluster helps. */
  readonly permanent: boolean;
  readonly since: number;
  /** After which of the timeouts it ends the run; null = at once. */
  readonly timeout: keyof Timeouts | null;
}

export type NotStarted = Pick<StartupProblem, "cause" | "message" | "permanent">;

/** Whether the objects seen last are up to date. Just after an outage they are not yet: what happened meanwhile arrives a little later. */
export function isCurrentView({ apiLostAt, apiBackAt, now }: RunState, timeouts: Timeouts): boolean {
  return apiLostAt === null && (apiBackAt === null || now - apiBackAt >= timeouts.staleView);
}

/** After a standstill of this process, what happened meanwhile is only being read: time that has passed proves nothing yet. */
export function isCatchingUp({ standstill, now }: RunState, timeouts: Timeouts): boolean {
  return standstill !== null && now - standstill.until < timeouts.staleView;
}

/** The run that has taken this run's Job over; null = none has. */
export function supersededBy({ runId, runIdKey, adoptedFromKey, adopted }: RunIdentity, { annotations }: JobView): string | null {
  const owner = annotations[runIdKey];
  if (owner === undefined || owner === runId) return null;
  // A watch that lags still shows whose the Job was before this run adopted it.
  if (adopted && !(annotations[adoptedFromKey]?.split(",").includes(runId) ?? false)) return null;
  return owner;
}
