import { plain, schedulerReason } from "./kubernetes-texts.ts";
import type { Trouble } from "./startup-problem.ts";
import type { RunState } from "./state.ts";

/** What the scheduler says of a pod no node takes; an autoscaler's answer stands in the events. */
export function unschedulable(state: RunState): Trouble | null {
  const { pod, acceptedAt } = state;
  const scheduled = pod?.conditions.PodScheduled;
  if (state.scheduledAt !== null || acceptedAt === null || scheduled?.status !== "False") return null;
  const reason = schedulerReason(scheduled.message ?? scheduled.reason ?? "no reason given");
  const remedy = remedies(state, reason);
  const why = remedy === "" ? reason : `${reason}; ${remedy}`;
  return {
    cause: "unschedulable",
    text: `pod not scheduled yet: ${why}`,
    message: `no node took the pod: ${why}${autoscaler(state)}`,
    permanent: false,
    since: acceptedAt,
    patience: "schedule",
  };
}

function remedies(state: RunState, reason: string): string {
  const short = [...reason.matchAll(/Insufficient ([\w./-]+\w)/g)].map(([, resource]) => tooMuch(state, resource ?? ""));
  const missing = reason.match(/persistentvolumeclaim "([^"]+)" not found/i)?.[1];
  const claims = state.pod?.claims.join(", ") ?? "";
  return [
    ...new Set(short),
    ...(/didn't match Pod's node affinity\/selector/.test(reason) ? ["change nodeSelector, or label a node"] : []),
    ...(/untolerated taint/.test(reason) ? ["add to tolerations"] : []),
    ...(missing === undefined ? [] : [`create claim ${missing} in namespace ${state.identity.namespace}, or name another`]),
    ...(/unbound immediate PersistentVolumeClaims/.test(reason)
      ? [`${claims === "" ? "its claim" : `claim ${claims}`} is not bound: give it a volume or a storage class`]
      : []),
    ...(/volume node affinity conflict/.test(reason) ? ["the claim's volume belongs to another node or zone"] : []),
  ].join(", ");
}

function tooMuch({ pod, identity }: RunState, resource: string): string {
  const asked = pod?.resources[identity.container]?.[`requests.${resource}`];
  return `lower resources.requests.${resource}${asked === undefined ? "" : `, now ${asked},`} or add a node`;
}

function autoscaler({ events }: RunState): string {
  const refused = events.findLast((event) => event.reason === "NotTriggerScaleUp");
  return refused === undefined ? "" : `; the autoscaler adds no node: ${scaleReason(refused.message)}`;
}

export const scaleReason = (text: string): string => plain(text.replace(/^pod (didn't trigger|triggered) scale-up:? ?/, ""));
