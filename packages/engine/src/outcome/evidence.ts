import type { Evidence, OutputEvidence, Timings } from "../run-outcome.ts";
import { believedEnd, cliEnd, expectedBytes, isOutputForged, stateEvidence, terminationMessage } from "./ended.ts";
import { forgeries } from "./forgeries.ts";
import { childKilled, memoryOf } from "./memory.ts";
import { mainContainer, terminated } from "./pod-facts.ts";
import { initialState, type RunState } from "./state.ts";

export function evidence(state: RunState): Evidence {
  const { identity, pod, job } = state;
  const memory = memoryOf(state);
  const failed = job?.conditions.Failed ?? job?.conditions.FailureTarget;
  return {
    namespace: identity.namespace,
    jobName: identity.jobName,
    jobUid: identity.jobUid,
    podName: pod?.name ?? state.startRecord?.pod ?? null,
    node: pod?.node ?? null,
    image: identity.image,
    imageId: mainContainer(pod, identity.container)?.imageId ?? null,
    proof: proof(state),
    endRecord: believedEnd(state),
    signed: identity.records.kind === "signed",
    termination: terminationMessage(state),
    container: mainContainer(pod, identity.container)?.state ?? null,
    podReason: pod?.reason ?? pod?.conditions.DisruptionTarget?.reason ?? null,
    jobReason: failed?.reason ?? null,
    events: state.events,
    output: output(state),
    memory,
    state: stateEvidence(state),
    warnings: [...(memory.killed ? [childKilled(memory)] : []), ...forgeries(state)],
    timings: timings(state),
  };
}

/** What this server did and counted itself: for a run whose other data cannot be read. */
export function ownEvidence({ identity, askedAt, now, admittedAt, acceptedAt, delivered, firstOutputAt }: RunState): Evidence {
  return evidence({ ...initialState(identity, askedAt), now, admittedAt, acceptedAt, delivered, firstOutputAt });
}

function proof(state: RunState): Evidence["proof"] {
  const end = cliEnd(state);
  if (end !== null) return end === state.endRecord ? "end-record" : "termination-message";
  return terminated(state.pod, state.identity.container) === null ? "none" : "container-state";
}

function output(state: RunState): OutputEvidence {
  const expected = expectedBytes(state);
  const complete = expected !== null && state.delivered === expected;
  // A volume that was slow has done no harm once everything was read from it.
  const problem = (complete ? null : state.stalled?.error) ?? cliEnd(state)?.error ?? null;
  const forged = isOutputForged(state);
  return { delivered: state.delivered, expected, complete: complete && !forged, problem, forged };
}

function timings(state: RunState): Timings {
  const since = (at: number | null) => (at === null ? null : Math.max(0, Math.round(at - state.askedAt)));
  return {
    admitted: since(state.admittedAt),
    accepted: since(state.acceptedAt),
    scheduled: since(state.scheduledAt),
    started: since(state.cliStartedAt),
    firstOutput: since(state.firstOutputAt),
    cliOver: since(state.endSeenAt ?? state.endedAt),
    settled: since(state.now),
  };
}
