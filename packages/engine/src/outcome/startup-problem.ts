import type { EventView } from "../kube/views.ts";
import { containerProblem } from "./container-problem.ts";
import { denialReason, mountReason, plain, scaleReason, schedulerReason } from "./kubernetes-texts.ts";
import { endOf, failedInit, failedSidecar, hasStarted } from "./pod-facts.ts";
import type { RunState, StartupProblem } from "./state.ts";

/** What keeps the pod from starting: read from its status where that names it, else from the events; null = nothing is known to. */
export function startupProblem(state: RunState): StartupProblem | null {
  if (state.acceptedAt === null || state.startRecord !== null || state.ranAt !== null) return null;
  if (hasStarted(state.pod, state.identity.container)) return null;
  if (state.pod === null) return podRejected(state);
  return (
    noSidecars(state) ??
    initProblem(state) ??
    sidecarProblem(state) ??
    containerProblem(state) ??
    unschedulable(state) ??
    sandboxProblem(state)
  );
}

/** An older cluster drops the field that makes a sidecar: the container would have to end before the run's could start. */
function noSidecars({ pod, identity, now }: RunState): StartupProblem | null {
  const plain = pod?.initContainers.find(({ name, sidecar }) => !sidecar && identity.sidecars.includes(name));
  if (plain === undefined) return null;
  const text = `container ${plain.name} of the pod template cannot run beside the run's own: this cluster has no native sidecars; they come with Kubernetes 1.29`;
  return { cause: "init-failed", text, message: text, permanent: true, since: now, timeout: null };
}

function initProblem(state: RunState): StartupProblem | null {
  const init = failedInit(state.pod);
  if (init === null) return null;
  const text = `init container ${init.name} ${endOf(init.state)}`;
  return { cause: "init-failed", text, message: text, permanent: false, since: state.now, timeout: null };
}

/** A sidecar is restarted by the kubelet, so it gets some time; the main container starts only after it. */
function sidecarProblem(state: RunState): StartupProblem | null {
  const sidecar = failedSidecar(state.pod);
  if (sidecar === null || state.sidecarEndedAt === null) return null;
  const text = `sidecar container ${sidecar.name} ${endOf(sidecar.end)}`;
  return {
    cause: "init-failed",
    text: `${text}; it is tried again`,
    message: `${text}, before the run could start`,
    permanent: false,
    since: state.sidecarEndedAt,
    timeout: "sidecar",
  };
}

/** Volumes come before the sandbox, the sandbox before images: once it is ready, events about either are out of date. */
function sandboxProblem(state: RunState): StartupProblem | null {
  if (state.scheduledAt === null || state.pod?.conditions.PodReadyToStartContainers?.status === "True") return null;
  if (state.events.some((event) => PAST_THE_SANDBOX.has(event.reason))) return null;
  const event = state.events.findLast(({ reason }) => SANDBOX_EVENTS.has(reason));
  if (event === undefined) return null;
  return event.reason === "FailedCreatePodSandBox" ? sandbox(event, state.scheduledAt) : mount(event, state.scheduledAt, state);
}

const SANDBOX_EVENTS = new Set(["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"]);
const PAST_THE_SANDBOX = new Set(["Pulling", "Pulled", "Created", "Started"]);

function mount(event: EventView, since: number, { identity }: RunState): StartupProblem {
  const reason = mountReason(event.message);
  const missing = reason.match(/(secret|configmap|persistentvolumeclaim) "([^"]+)" not found/i);
  const inUse = /Multi-Attach error|already (used|attached)/i.test(reason);
  const remedy = missing
    ? `; create it in namespace ${identity.namespace}`
    : inUse
      ? "; a claim that several nodes use must be ReadWriteMany"
      : "";
  return {
    cause: "volume-mount",
    text: `a volume is not mounted yet: ${reason}${remedy}`,
    message: `a volume could not be mounted: ${reason}${remedy}`,
    permanent: false,
    since,
    timeout: missing ? "missingVolume" : "start",
  };
}

function sandbox(event: EventView, since: number): StartupProblem {
  const text = `the pod's sandbox is not made: ${plain(event.message.replace(/^Failed to create pod sandbox: /, ""))}`;
  return { cause: "container-config", text, message: text, permanent: false, since, timeout: "start" };
}

/** The scheduler's reason for a pod that no node takes; an autoscaler's answer is in the events. */
function unschedulable(state: RunState): StartupProblem | null {
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
    timeout: "schedule",
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
  const rejected = events.findLast((event) => event.reason === "NotTriggerScaleUp");
  return rejected === undefined ? "" : `; the autoscaler adds no node: ${scaleReason(rejected.message)}`;
}

/** A Job without a pod: only the Job's events say why its pod was rejected. */
function podRejected(state: RunState): StartupProblem | null {
  const { job, events, acceptedAt, identity } = state;
  if (job === null || job.suspended || job.active > 0 || state.jobGoneAt !== null || acceptedAt === null) return null;
  const rejected = events.findLast((event) => event.reason === "FailedCreate");
  if (rejected === undefined) return null;
  const reason = denialReason(rejected.message);
  const { remedy, permanent } = whatHelps(reason, identity.namespace);
  const text = `the Job made no pod: ${reason}${remedy === "" ? "" : `; ${remedy}`}`;
  return { cause: "no-pod", text, message: text, permanent, since: acceptedAt, timeout: "noPod" };
}

/** A full quota may have room again; the other problems stay until the cluster or the request is changed. */
function whatHelps(reason: string, namespace: string): { readonly remedy: string; readonly permanent: boolean } {
  const quota = reason.match(/^exceeded quota: ([^,]+)/)?.[1];
  if (quota !== undefined) return { remedy: `raise or free ResourceQuota ${quota} of namespace ${namespace}`, permanent: false };
  const unset = reason.match(/must specify (\S+)/)?.[1]?.replace(/[,:]$/, "");
  if (unset !== undefined) return { remedy: `set resources.${unset}`, permanent: true };
  const account = reason.match(/serviceaccount "([^"]+)" not found/i)?.[1];
  if (account !== undefined)
    return { remedy: `create ServiceAccount ${account} in namespace ${namespace}, or change serviceAccountName`, permanent: true };
  if (reason.startsWith("violates PodSecurity"))
    return { remedy: `namespace ${namespace} must allow it (label pod-security.kubernetes.io/enforce)`, permanent: true };
  if (reason.startsWith("unable to validate against any security context constraint"))
    return { remedy: `a SecurityContextConstraint must allow it for the pods' service account in namespace ${namespace}`, permanent: true };
  const webhook = reason.match(/^admission webhook "([^"]+)" denied the request/)?.[1];
  if (webhook !== undefined) return { remedy: `the policy behind webhook ${webhook} must allow it`, permanent: true };
  const ratio = reason.match(/(\S+) max limit to request ratio per/)?.[1];
  if (ratio !== undefined)
    return {
      remedy: `raise resources.requests.${ratio} or lower resources.limits.${ratio} (LimitRange of namespace ${namespace})`,
      permanent: true,
    };
  const [, bound, resource] = reason.match(/^(maximum|minimum) (\S+) usage per/) ?? [];
  if (bound !== undefined)
    return { remedy: `change resources.${bound === "maximum" ? "limits" : "requests"}.${resource}`, permanent: true };
  return { remedy: "", permanent: false };
}
