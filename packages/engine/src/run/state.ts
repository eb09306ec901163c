import type { EndRecord, StartRecord } from "@paperclip-k8s/runner";
import type { EventView, JobView, PodView } from "../cluster/views.ts";
import type { RunOutcome } from "./outcome.ts";

/** All that is known about one run. Facts only ever add to it; `outcome` is set once and ends it. */
export interface RunState {
  readonly identity: RunIdentity;
  /** When the run was asked for; timings are counted from here. */
  readonly askedAt: number;
  readonly now: number;
  readonly admittedAt: number | null;
  readonly acceptedAt: number | null;
  readonly job: JobView | null;
  readonly jobGoneAt: number | null;
  /** The last that was seen of the pod, kept when it is gone. */
  readonly pod: PodView | null;
  readonly podGoneAt: number | null;
  /** When the pod was first seen marked for deletion; its own timestamp is the end of its grace. */
  readonly podDoomedAt: number | null;
  readonly scheduledAt: number | null;
  /** What the container waits for and since when, to tell a hiccup from a fault. */
  readonly waiting: { readonly reason: string; readonly since: number } | null;
  readonly events: readonly EventView[];
  readonly apiLostAt: number | null;
  readonly startRecord: StartRecord | null;
  readonly cliStartedAt: number | null;
  readonly endRecord: EndRecord | null;
  readonly endSeenAt: number | null;
  readonly delivered: number;
  readonly firstOutputAt: number | null;
  readonly lastOutputAt: number | null;
  /** The last fresh look at the files that was begun after the run was known to be over. */
  readonly drained: { readonly at: number; readonly bytes: number } | null;
  readonly stalled: { readonly since: number; readonly error: string } | null;
  readonly cancel: { readonly at: number; readonly reason: string } | null;
  /** First moment at which the run was known to be over. */
  readonly overAt: number | null;
  readonly outcome: RunOutcome | null;
}

/** What tells this run's objects from any other's. */
export interface RunIdentity {
  readonly runId: string;
  readonly runIdKey: string;
  readonly nonce: string;
  readonly namespace: string;
  readonly jobName: string;
  readonly jobUid: string | null;
  readonly container: string;
  readonly image: string;
}

export function initialState(identity: RunIdentity, askedAt: number): RunState {
  return {
    identity,
    askedAt,
    now: askedAt,
    admittedAt: null,
    acceptedAt: null,
    job: null,
    jobGoneAt: null,
    pod: null,
    podGoneAt: null,
    podDoomedAt: null,
    scheduledAt: null,
    waiting: null,
    events: [],
    apiLostAt: null,
    startRecord: null,
    cliStartedAt: null,
    endRecord: null,
    endSeenAt: null,
    delivered: 0,
    firstOutputAt: null,
    lastOutputAt: null,
    drained: null,
    stalled: null,
    cancel: null,
    overAt: null,
    outcome: null,
  };
}
