import { normalize } from "node:path/posix";
import { labelValue, withoutTrailing } from "@paperclip-k8s/engine";
import { isRecord } from "../../host/context-values.ts";
import { ConfigError, quote } from "../config-error.ts";
import { named, type Reading, type Unnamed, used } from "../field.ts";
import { choice, quantity, text } from "../kinds/scalar.ts";
import { list, map } from "../kinds/structured.ts";
import { dnsSubdomain } from "../kinds/text-checks.ts";
import { tolerations } from "../kinds/tolerations.ts";

const OWN_POD = "the server pod's";
const FORMS = "an object, JSON text, or `key=value` lines";

/** The agent's pod: size and place. */
export const podFields = named({
  requestCpu: quantity({
    key: "resources.requests.cpu",
    label: "CPU request",
    default: "1000m",
    unit: "cores",
    doc: "CPU the scheduler sets aside; unset, it follows a smaller limit",
  }),
  requestMemory: quantity({
    key: "resources.requests.memory",
    label: "Memory request",
    default: "2Gi",
    unit: "bytes",
    doc: "memory the scheduler sets aside; unset, it follows a smaller limit",
  }),
  limitCpu: quantity({
    key: "resources.limits.cpu",
    label: "CPU limit",
    first: true,
    default: "4000m",
    unit: "cores",
    doc: "most CPU; unset, it follows a larger request",
  }),
  limitMemory: quantity({
    key: "resources.limits.memory",
    label: "Memory limit",
    first: true,
    default: "8Gi",
    unit: "bytes",
    doc: "most memory: beyond it the run is killed; unset, it follows a larger request",
  }),
  nodeSelector: orNone(
    map({
      label: "Node selector",
      defaultText: OWN_POD,
      check: nodeLabel,
      doc: `labels a node must have; ${FORMS}; \`none\` or \`{}\` = none`,
    }),
    {},
  ),
  tolerations: orNone(
    tolerations({
      label: "Tolerations",
      defaultText: OWN_POD,
      doc: "taints the pod accepts; a list or its JSON text; `none` or `[]` = none",
    }),
    [],
  ),
  runtimeClassName: text({
    label: "Runtime class",
    defaultText: "the policy's, else the cluster's",
    check: dnsSubdomain,
    doc: "RuntimeClass of the pod, such as that of a sandbox; only those that the operator's policy allows",
  }),
  podTemplate: text({
    label: "Pod template",
    defaultText: "the policy's, else none",
    check: dnsSubdomain,
    doc: "what the pod has besides the agent, such as a database: the name of a pod template that the operator's policy offers",
  }),
  filesystemScope: choice({
    isPromise: true,
    options: { none: "", workspace: "" },
    defaultText: "none",
    doc: "`workspace`: of the shared volume the pod has the agent's own folders, its company's skills, the folder of the run's project, and of the policy's `volume.paths` only those in `filesystemExtraPaths`. Refused for a workspace that is a part of a checkout, such as a worktree, because a pod cannot have it alone",
  }),
  filesystemExtraPaths: extraPaths(),
  networkScope: choice({
    isPromise: true,
    options: { none: "", deny: "", allowlist: "" },
    defaultText: "none",
    doc: "a promise about the pod's network that only the cluster can keep: `deny` and `allowlist` are refused unless the policy's `allow.networkScopes` says that it does",
  }),
  networkAllowlist: list({ doc: "with `networkScope` `allowlist`: hosts that the cluster's network policies have to allow" }),
  labels: map({
    label: "Labels",
    doc: `further labels of Job, Pod and Secret; ${FORMS}. Those of Kubernetes and Paperclip are skipped with a warning`,
  }),
});

/** The word `none` for an empty value: a form that is left empty means "unset". */
function orNone<T>(unnamed: Unnamed<T>, none: T): Unnamed<T> {
  return (name) => {
    const field = unnamed(name);
    const parse: typeof field.parse = (value, key) =>
      typeof value === "string" && value.trim().toLowerCase() === "none" ? used(none) : field.parse(value, key);
    return { ...field, parse };
  };
}

/** Unlike a label of ours it is not made valid: another value would select other nodes, or none. */
function nodeLabel(name: string, value: string, key: string): void {
  if (labelValue(value).changed) throw new ConfigError(key, `${quote(value)} (of ${quote(name)}) is not a valid label value`);
}

export interface ExtraPath {
  readonly path: string;
  readonly access: "ro" | "rw";
}

/** Paths, or objects with a path and its access, as the host's own adapters have them: to be read only, unless that is `rw`. */
function extraPaths(): Unnamed<readonly ExtraPath[]> {
  const paths = list({
    doc: "with `filesystemScope`: folders in the policy's `volume.paths` that the pod has all the same, read-only unless an item is `{path, access: rw}` and the policy lets agents write there",
  });
  return (name) => {
    const field = paths(name);
    const parse = (value: unknown, key: string): Reading<readonly ExtraPath[]> => {
      const items = Array.isArray(value) ? value : [];
      const reading = field.parse(Array.isArray(value) ? items.map(pathOf) : value, key);
      if (reading === "unset" || "ignored" in reading) return reading;
      const writable = items.filter((item) => isRecord(item) && item.access === "rw").map(pathOf);
      const read = (path: string): ExtraPath => ({
        path: withoutTrailing(normalize(path), "/", 1),
        access: writable.includes(path) ? "rw" : "ro",
      });
      return used(reading.value.map(read), reading.note);
    };
    return { ...field, unset: [], parse };
  };
}

const pathOf = (item: unknown): unknown => (isRecord(item) ? item.path : item);
