import type { ContainerView } from "../kube/views.ts";
import { configReason, pullReason, runtimeReason } from "./kubernetes-texts.ts";
import { type Terminated, waitingContainer } from "./pod-facts.ts";
import type { NotStarted, RunIdentity, RunState, StartupProblem } from "./state.ts";

const PULL_REASONS = new Set(["ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"]);
const PULL_REASONS_FINAL = new Set(["InvalidImageName", "ErrImageNeverPull"]);
const CONFIG_REASONS = new Set([
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "CrashLoopBackOff",
  "PreCreateHookError",
]);

/** The kubelet's reason for a container that it cannot start. */
export function containerProblem(state: RunState): StartupProblem | null {
  const container = waitingContainer(state.pod, state.identity.container);
  if (container?.state.kind !== "waiting" || state.waiting === null) return null;
  const { reason } = container.state;
  if (reason === null) return null;
  const detail = container.state.message ?? "";
  const since = state.waiting.since;
  const isFinal = PULL_REASONS_FINAL.has(reason);
  const isMain = container.name === state.identity.container;
  const cause = isMain ? null : "init-failed";
  if (isFinal || PULL_REASONS.has(reason)) {
    const text = `${ofContainer(container, isMain)}${imageText(isMain ? state.identity.image : container.image, reason, detail, isMain)}`;
    return { cause: cause ?? "image", text, message: text, permanent: isFinal, since, timeout: isFinal ? null : "imagePull" };
  }
  if (!CONFIG_REASONS.has(reason)) return null;
  const why = configReason(detail);
  if (isMain && isMissing(why, state.identity.program))
    return { ...runtimeMissing(why, state.identity.image), text: why, since, timeout: null };
  const text = `${ofContainer(container, isMain)}${configText(state, reason, detail)}`;
  return {
    cause: cause ?? "container-config",
    text,
    message: text,
    permanent: /runAsNonRoot/.test(detail),
    since,
    timeout: "containerConfig",
  };
}

/** Who it is about, where that is not the run's own container. */
const ofContainer = ({ name, sidecar }: ContainerView, isMain: boolean): string =>
  isMain ? "" : `${sidecar ? "sidecar" : "init"} container ${name}: `;

/** A pull that fails alternates between two reasons, which give one text. */
function imageText(image: string, reason: string, detail: string, isMain: boolean): string {
  if (reason === "InvalidImageName")
    return `"${image}" is not an image name: ${pullReason(detail)}; change ${isMain ? "image" : "its image"}`;
  if (reason === "ErrImageNeverPull") return `image ${image} is not on the node, and imagePullPolicy Never forbids to pull it`;
  const why = pullReason(detail);
  return `image ${image} cannot be pulled${why === "" ? "" : `: ${why}`}; ${imageRemedy(why)}`;
}

function imageRemedy(why: string): string {
  if (/denied|unauthorized|authoriz|authenticat|forbidden|\b40[13]\b/i.test(why)) return "check image and imagePullSecrets";
  if (/not found|manifest unknown|no match for platform|\b404\b/i.test(why)) return "check image";
  return "check image and that the node reaches its registry";
}

function configText({ identity }: RunState, reason: string, detail: string): string {
  const why = configReason(detail);
  if (why === "") return `the container cannot be made (${reason})`;
  const remedy = /(secret|configmap) "[^"]+" not found/i.test(why)
    ? `; create it in namespace ${identity.namespace}, or drop the variable that needs it`
    : /runAsNonRoot/.test(why)
      ? "; use an image whose user is not root"
      : "";
  return `the container cannot be made (${reason}): ${why}${remedy}`;
}

/** A program that is not in the image stays missing; an error of the container runtime may pass. */
export function startError(container: Terminated, { image, program }: Pick<RunIdentity, "image" | "program">): NotStarted {
  const why = container.message === null ? "" : runtimeReason(container.message);
  if (isMissing(why, program)) return runtimeMissing(why, image);
  const unusable = /no such file|not found|permission denied|exec format error/i.test(why);
  const remedy = unusable ? `; image ${image} must have that program, for this platform and user` : "";
  return {
    cause: "start-error",
    message: `the container could not be started${why === "" ? "" : `: ${why}`}${remedy}`,
    permanent: unusable,
  };
}

/** Whether the container runtime says that the program itself is not there; a working folder may be missing too. */
function isMissing(why: string, program: string): boolean {
  const quoted = program.replace(/[^\w/-]/g, "\\$&");
  return /not found|no such file/i.test(why) && !/chdir|\bcwd\b/.test(why) && new RegExp(`(^|["'\`\\s])${quoted}(["'\`:\\s]|$)`).test(why);
}

function runtimeMissing(why: string, image: string): NotStarted {
  const message = `the container could not be started: ${why}; image ${image} must have that program, for this platform and user`;
  return { cause: "runtime-missing", message, permanent: true };
}
