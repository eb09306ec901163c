import { labelValue } from "@paperclip-k8s/engine";
import { ConfigError, quote } from "../config-error.ts";
import { named, type Unnamed, used } from "../field.ts";
import { quantity, text } from "../kinds/scalar.ts";
import { map } from "../kinds/structured.ts";
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
