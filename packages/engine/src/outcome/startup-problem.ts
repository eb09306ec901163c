import type { EventView } from "../kube/views.ts";
import type { StartFailure } from "../run-outcome.ts";
import type { Timeouts } from "../timeouts.ts";
import { containerProblem } from "./container-problem.ts";
import { mountReason, plain } from "./kubernetes-texts.ts";
import { denied } from "./pod-create-rejected.ts";
import { failedInit, hasStarted } from "./pod-facts.ts";
import type { RunState } from "./state.ts";
import { unschedulable } from "./unschedulable.ts";

/** What keeps a pod from starting, as it stands now. */
export interface Trouble {
  readonly cause: StartFailure;
  /** For the log, while it may still pass: cause first, then what to change. */
  readonly text: string;
  /** For the result, when it has not passed. */
  readonly message: string;
  /** Only a change of the request or the cluster helps. */
  readonly permanent: boolean;
  readonly since: number;
  /** How long it is borne; null = it is final. */
  readonly patience: keyof Timeouts | null;
}

/** Read from the pod's status where that tells, else from the events; null = nothing stands in the way, or nobody has said so. */
export function startupProblem(state: RunState): Trouble | null {
  if (state.acceptedAt === null || state.startRecord !== null || state.ranAt !== null) return null;
  if (hasStarted(state.pod, state.identity.container)) return null;
  if (state.pod === null) return denied(state);
  return initTrouble(state) ?? containerProblem(state) ?? unschedulable(state) ?? sandboxTrouble(state);
}

function initTrouble(state: RunState): Trouble | null {
  const init = failedInit(state.pod);
  if (init === null) return null;
  const said = init.state.message === null ? "" : `: ${plain(init.state.message)}`;
  const text = `init container ${init.name} exited with code ${init.state.exitCode}${said}`;
  return { cause: "init-failed", text, message: text, permanent: false, since: state.now, patience: null };
}

/** Volumes come before the sandbox, the sandbox before images: once it is ready, events about either are history. */
function sandboxTrouble(state: RunState): Trouble | null {
  if (state.scheduledAt === null || state.pod?.conditions.PodReadyToStartContainers?.status === "True") return null;
  if (state.events.some((event) => PAST_THE_SANDBOX.has(event.reason))) return null;
  const event = state.events.findLast(({ reason }) => SANDBOX_EVENTS.has(reason));
  if (event === undefined) return null;
  return event.reason === "FailedCreatePodSandBox" ? sandbox(event, state.scheduledAt) : mount(event, state.scheduledAt, state);
}

const SANDBOX_EVENTS = new Set(["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"]);
const PAST_THE_SANDBOX = new Set(["Pulling", "Pulled", "Created", "Started"]);

function mount(event: EventView, since: number, { identity }: RunState): Trouble {
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
    patience: missing ? "missingVolume" : "start",
  };
}

function sandbox(event: EventView, since: number): Trouble {
  const text = `the pod's sandbox is not made: ${plain(event.message.replace(/^Failed to create pod sandbox: /, ""))}`;
  return { cause: "container-config", text, message: text, permanent: false, since, patience: "start" };
}
