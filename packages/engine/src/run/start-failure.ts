import type { EventView } from "../cluster/views.ts";
import type { StartFailure } from "./outcome.ts";
import { failedInit, hasStarted, mainContainer } from "./pod-facts.ts";
import type { Policy } from "./policy.ts";
import type { RunState } from "./state.ts";

export interface NotStarted {
  readonly cause: StartFailure;
  readonly message: string;
  readonly permanent: boolean;
}

const IMAGE_REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
const IMAGE_REASONS_FINAL = new Set(["InvalidImageName", "ErrImageNeverPull"]);
const CONFIG_REASONS = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "CrashLoopBackOff",
  "PreCreateHookError",
]);

/** Why this pod will not start, once patience with it has run out; null = keep waiting. */
export function startFailure(state: RunState, policy: Policy): NotStarted | null {
  if (state.acceptedAt === null || state.endRecord !== null || state.startRecord !== null) return null;
  if (hasStarted(state.pod, state.identity.container)) return null;
  if (state.pod === null) return noPod(state, policy);
  const init = failedInit(state.pod);
  if (init !== null)
    return { cause: "init-failed", message: `init container ${init.name} exited with code ${init.state.exitCode}`, permanent: false };
  return waitingTooLong(state, policy) ?? unscheduled(state, policy) ?? notStarting(state, policy);
}

function noPod(state: RunState, policy: Policy): NotStarted | null {
  if (state.job === null || state.job.suspended || state.job.active > 0 || state.jobGoneAt !== null || state.apiLostAt !== null)
    return null;
  if (state.now - (state.acceptedAt ?? state.now) < policy.noPod) return null;
  const told = lastEvent(state.events, "FailedCreate");
  return { cause: "no-pod", message: `the Job made no pod${told === null ? "" : `: ${told}`}`, permanent: false };
}

function waitingTooLong(state: RunState, policy: Policy): NotStarted | null {
  const waiting = state.waiting;
  const container = mainContainer(state.pod, state.identity.container)?.state;
  if (waiting === null || container?.kind !== "waiting" || state.apiLostAt !== null) return null;
  const waited = state.now - waiting.since;
  const detail = container.message === null ? "" : `: ${container.message}`;
  const message = `${waiting.reason}${detail} (image ${state.identity.image})`;
  if (IMAGE_REASONS_FINAL.has(waiting.reason)) return { cause: "image", message, permanent: true };
  if (IMAGE_REASONS.has(waiting.reason) && waited >= policy.imagePull) return { cause: "image", message, permanent: false };
  if (CONFIG_REASONS.has(waiting.reason) && waited >= policy.containerConfig)
    return { cause: "container-config", message: `${waiting.reason}${detail}`, permanent: false };
  return null;
}

function unscheduled(state: RunState, policy: Policy): NotStarted | null {
  const scheduled = state.pod?.conditions.PodScheduled;
  if (state.scheduledAt !== null || state.pod?.node || scheduled?.status === "True" || state.apiLostAt !== null) return null;
  if (state.now - (state.acceptedAt ?? state.now) < policy.schedule) return null;
  return { cause: "unschedulable", message: scheduled?.message ?? "no node took the pod", permanent: false };
}

function notStarting(state: RunState, policy: Policy): NotStarted | null {
  if (state.scheduledAt === null || state.now - state.scheduledAt < policy.start || state.apiLostAt !== null) return null;
  const mount = lastEvent(state.events, "FailedMount") ?? lastEvent(state.events, "FailedAttachVolume");
  if (mount !== null) return { cause: "volume-mount", message: mount, permanent: false };
  return {
    cause: "container-config",
    message: `the container did not start within ${Math.round(policy.start / 1000)} s`,
    permanent: false,
  };
}

/** Waiting reasons that are trouble, not progress. */
export function isTrouble(reason: string): boolean {
  return IMAGE_REASONS.has(reason) || IMAGE_REASONS_FINAL.has(reason) || CONFIG_REASONS.has(reason);
}

function lastEvent(events: readonly EventView[], reason: string): string | null {
  return events.findLast((event) => event.reason === reason)?.message ?? null;
}
