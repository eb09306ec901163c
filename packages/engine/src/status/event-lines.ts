import type { EventView } from "../kube/views.ts";
import { plain, scaleReason, schedulerReason } from "../outcome/kubernetes-texts.ts";
import type { RunState } from "../outcome/state.ts";
import type { StatusLine } from "../run-context.ts";

/** These have lines of their own: from the pod's status, or as the startup problem. */
const COVERED = new Set([
  "Failed",
  "BackOff",
  "InspectFailed",
  "ErrImageNeverPull",
  "FailedMount",
  "FailedAttachVolume",
  "FailedCreatePodSandBox",
  "FailedCreate",
  "BackoffLimitExceeded",
  "DeadlineExceeded",
  "Evicted",
  "NodeNotReady",
]);

/** What the events add to the pod's status: autoscalers, other schedulers, and warnings of kinds not known here. */
export function eventLines(state: RunState): StatusLine[] {
  const scheduled = state.pod?.conditions.PodScheduled?.message;
  return state.events.flatMap((event) => lineOf(event, scheduled == null ? null : schedulerReason(scheduled)));
}

function lineOf(event: EventView, scheduler: string | null): StatusLine[] {
  if (event.reason === "TriggeredScaleUp") return [{ level: "info", text: `the autoscaler adds a node: ${scaleReason(event.message)}` }];
  if (event.reason === "NotTriggerScaleUp")
    return [{ level: "warning", text: `the autoscaler adds no node: ${scaleReason(event.message)}` }];
  if (event.reason === "Nominated") return [{ level: "info", text: plain(event.message) }];
  if (event.type !== "Warning" || COVERED.has(event.reason)) return [];
  if (event.reason !== "FailedScheduling") return [{ level: "warning", text: `${event.reason}: ${plain(event.message)}` }];
  // The scheduler's own text stands in the pod's status; an older text adds nothing, another scheduler's does.
  const isOwn = /^\d+\/\d+ nodes are available/.test(event.message) || schedulerReason(event.message) === scheduler;
  return isOwn ? [] : [{ level: "warning", text: `not scheduled: ${schedulerReason(event.message)}` }];
}
