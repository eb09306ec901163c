// Kubernetes' own texts, cut down to what a reader of a run can use.

const MOST = 400;
/** How much of a text is searched. Kubernetes' own texts are shorter; those of others must not take more time. */
const LOOKED_AT = 4096;

/** One line without JSON, ids and a full stop at its end. */
export function plain(text: string): string {
  const line = withoutJson(text.slice(0, LOOKED_AT))
    .replace(/"[0-9a-f]{32,}"|\b[0-9a-f]{32,}\b/g, "…")
    .replace(/\s+/g, " ")
    .trim();
  const sentence = withoutEnd(line);
  return sentence.length <= MOST ? sentence : `${sentence.slice(0, MOST)}…`;
}

/** From the first bracket before a quote to the last bracket, if there is a key between them. */
function withoutJson(text: string): string {
  let from = text.search(/[[{]"/);
  const to = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (from === -1 || text.lastIndexOf('":', to - 1) <= from + 1) return text;
  while (from > 0 && "[{".includes(text.charAt(from - 1))) from--;
  return text.slice(0, from) + text.slice(to + 1);
}

function withoutEnd(line: string): string {
  let end = line.length;
  while (end > 0 && ".:;, ".includes(line.charAt(end - 1))) end--;
  return line.slice(0, end);
}

/** Texts that wrap other texts: they only name the layer that passed the error on. */
const PULL_WRAPPERS = [
  /^Back-off pulling image "[^"]*"(: )?/,
  /^(ErrImagePull|ImagePullBackOff): /,
  /^rpc error: code = \w+ desc = /,
  /^failed to pull and unpack image "[^"]*": /,
  /^failed to resolve (reference|image) "[^"]*": /,
  /^failed to do request: \w+ "[^"]*": /,
  /^failed to (copy|authorize|fetch (anonymous|oauth) token): /,
  /^(initializing source|unable to retrieve auth token|pinging container registry) [^:]*(:\/\/\S+)?: /,
  /^(reading|fetching) manifest \S+ in \S+: /,
  /^Failed to apply default image tag "[^"]*": /,
  /^couldn't parse image name "[^"]*": /,
  /^[^\s"]+\/[^\s"]+: (?=not found)/,
];
const RUNTIME_WRAPPERS = [
  /^Error: /,
  /^failed to (create|start) containerd task: /,
  /^failed to create shim task: /,
  /^failed to start container "[^"]*": /,
  /^OCI runtime (create|start) failed: /,
  /^(runc|crun|container_linux\.go:\d+) ?(create|start)? ?failed: /,
  /^unable to start container process: /,
  /^error during container init: /,
];
const DENIAL_WRAPPERS = [/^Error creating: /, /^pods? "[^"]*" is forbidden: /i];
const MOUNT_WRAPPERS = [/^MountVolume\.\w+ failed for /, /^AttachVolume\.\w+ failed for /];

/** The registry's own reason. */
export const pullReason = (text: string): string => plain(unwrap(text, PULL_WRAPPERS));

/** What the container runtime could not do. */
export const runtimeReason = (text: string): string => plain(unwrap(text, RUNTIME_WRAPPERS).replace(/: unknown$/, ""));

/** Why the API server rejected a pod, without its generated name, which differs at every try. */
export const denialReason = (text: string): string => plain(unwrap(text, DENIAL_WRAPPERS));

/** `volume "s" : why` → `volume "s": why`. */
export const mountReason = (text: string): string => plain(unwrap(text, MOUNT_WRAPPERS).replace(/" : /, '": '));

/** What the nodes lack; what preemption or claims could not do about it is left out. */
export function schedulerReason(text: string): string {
  const from = text.search(/\.? ?(no new claims to deallocate, ?)?preemption: /);
  return plain((from === -1 ? text : text.slice(0, from)).replace(/\. not found\.?$/, ""));
}

/** Why an autoscaler adds a node, or none. */
export const scaleReason = (text: string): string => plain(text.replace(/^pod (didn't trigger|triggered) scale-up:? ?/, ""));

/** The kubelet's reason for not making a container, without the pod's name and uid. */
export function configReason(text: string): string {
  const reason = runtimeReason(text);
  const from = reason.lastIndexOf(" (pod: ");
  return plain(from !== -1 && reason.endsWith(")") ? reason.slice(0, from) : reason);
}

function unwrap(text: string, wrappers: readonly RegExp[]): string {
  let whole = "";
  let inner = text.slice(0, LOOKED_AT).trim();
  while (inner !== whole) {
    whole = inner;
    inner = wrappers.reduce((rest, wrapper) => rest.replace(wrapper, ""), whole).trim();
  }
  return inner;
}
