import type { ContainerView } from "../kube/views.ts";
import { configReason, pullReason } from "./kubernetes-texts.ts";
import { waitingContainer } from "./pod-facts.ts";
import type { Trouble } from "./startup-problem.ts";
import type { RunState } from "./state.ts";

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

/** What the kubelet says of a container it cannot start. */
export function containerProblem(state: RunState): Trouble | null {
  const container = waitingContainer(state.pod, state.identity.container);
  if (container?.state.kind !== "waiting" || state.waiting === null) return null;
  const { reason } = container.state;
  if (reason === null) return null;
  const said = container.state.message ?? "";
  const since = state.waiting.since;
  if (IMAGE_REASONS_FINAL.has(reason)) {
    const text = imageText(imageOf(state, container), reason, said);
    return { cause: "image", text, message: text, permanent: true, since, patience: null };
  }
  if (IMAGE_REASONS.has(reason)) {
    const text = imageText(imageOf(state, container), reason, said);
    return { cause: "image", text, message: text, permanent: false, since, patience: "imagePull" };
  }
  if (!CONFIG_REASONS.has(reason)) return null;
  const text = configText(state, reason, said);
  return { cause: "container-config", text, message: text, permanent: /runAsNonRoot/.test(said), since, patience: "containerConfig" };
}

const imageOf = ({ identity }: RunState, { name, image }: ContainerView): string => (name === identity.container ? identity.image : image);

/** The two reasons of a pull that fails take turns: they give one text. */
function imageText(image: string, reason: string, said: string): string {
  if (reason === "InvalidImageName") return `"${image}" is not an image name: ${pullReason(said)}; change image`;
  if (reason === "ErrImageNeverPull") return `image ${image} is not on the node, and imagePullPolicy Never forbids to pull it`;
  const why = pullReason(said);
  return `image ${image} cannot be pulled${why === "" ? "" : `: ${why}`}; ${imageRemedy(why)}`;
}

function imageRemedy(why: string): string {
  if (/denied|unauthorized|authoriz|authenticat|forbidden|\b40[13]\b/i.test(why)) return "check image and imagePullSecrets";
  if (/not found|manifest unknown|no match for platform|\b404\b/i.test(why)) return "check image";
  return "check image and that the node reaches its registry";
}

function configText({ identity }: RunState, reason: string, said: string): string {
  const why = configReason(said);
  if (why === "") return `the container cannot be made (${reason})`;
  const remedy = /(secret|configmap) "[^"]+" not found/i.test(why)
    ? `; create it in namespace ${identity.namespace}, or drop the variable that needs it`
    : /runAsNonRoot/.test(why)
      ? "; use an image whose user is not root"
      : "";
  return `the container cannot be made (${reason}): ${why}${remedy}`;
}
