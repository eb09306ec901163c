import { INPUT_MOUNT, overlaps, TOOLS_MOUNT } from "@paperclip-k8s/engine";
import { isRecord } from "../host/context-values.ts";
import { DEFAULT_HOME } from "../host/paths.ts";
import { kindOf, quote } from "../settings/config-error.ts";
import { podFields } from "../settings/fields/pod.ts";
import { dnsLabel } from "../settings/kinds/text-checks.ts";
import { isReserved } from "../settings/warnings.ts";
import { annotations, attempt, kubernetesName, labels, like, type Reader, section, wrong } from "./readers.ts";
import { containers, type MountPart, mounts, type Part, variables, volumesOf } from "./template-parts.ts";

/** What a pod has besides the agent's container, as the operator wrote it. Null and empty = the template says nothing of it. */
export interface OfferedTemplate {
  /** Beside the agent: they start before it, and end after it. */
  readonly containers: readonly Part[];
  readonly initContainers: readonly Part[];
  readonly volumes: readonly Part[];
  /** For the agent's own container. */
  readonly agent: { readonly volumeMounts: readonly MountPart[]; readonly env: readonly Part[] };
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly priorityClassName: string | null;
  readonly runtimeClassName: string | null;
  readonly schedulerName: string | null;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Readonly<Record<string, unknown>>[] | null;
  readonly imagePullSecrets: readonly string[];
  readonly affinity: Readonly<Record<string, unknown>> | null;
  readonly dnsConfig: Readonly<Record<string, unknown>> | null;
  readonly topologySpreadConstraints: readonly unknown[] | null;
  readonly hostAliases: readonly unknown[] | null;
}

export const EMPTY_TEMPLATE: OfferedTemplate = {
  containers: [],
  initContainers: [],
  volumes: [],
  agent: { volumeMounts: [], env: [] },
  labels: {},
  annotations: {},
  priorityClassName: null,
  runtimeClassName: null,
  schedulerName: null,
  nodeSelector: {},
  tolerations: null,
  imagePullSecrets: [],
  affinity: null,
  dnsConfig: null,
  topologySpreadConstraints: null,
  hostAliases: null,
};

/** Fields of a pod that a template cannot have, and what each would break. */
const BREAKS: Readonly<Record<string, string>> = {
  restartPolicy: "a run's pod is never restarted: its CLI would be started twice",
  activeDeadlineSeconds: "it would end the pod before the run's own limit; set limits.runSec",
  terminationGracePeriodSeconds: "the CLI and its session need the time that the run gives them; set graceSec",
  serviceAccountName: "the agent would get its token; it is the setting serviceAccountName",
  serviceAccount: "the agent would get its token; it is the setting serviceAccountName",
  automountServiceAccountToken: "the agent would get a service account's token; see the setting serviceAccountName",
  securityContext: "the pod's user shares its files with the server; set it on a container of the template",
  shareProcessNamespace: "the agent and the other containers would see and end each other's processes",
  hostPID: "the agent would see the processes of its node",
  hostIPC: "the agent would share memory with its node",
  hostNetwork: "the agent would have its node's network, past every network policy",
  hostUsers: "it is for all pods: force.hostUsers",
  nodeName: "it passes the scheduler by; use nodeSelector or affinity",
  ephemeralContainers: "a Job cannot have them",
};

/** Where a run has, or may have, something of its own. */
const OWN_PATHS = [INPUT_MOUNT, "/agent", "/tmp", TOOLS_MOUNT, "/dev", "/proc", "/sys", DEFAULT_HOME];
/** They steer the runner, or say where a run's own folders are. */
const OWN_VARIABLES = /^(NODE_.*|LD_.*|PAPERCLIP_.*|PATH|HOME|XDG_\w+_HOME|TMPDIR|TMP|TEMP)$/;

const ownPath = (path: string): string | null => {
  const own = OWN_PATHS.find((each) => overlaps(each, path));
  return own === undefined ? null : `would hide what the run has at ${own}`;
};
const ownVariable = (name: string): string | null => (OWN_VARIABLES.test(name) ? "is set by the run itself" : null);

const unreserved =
  (reader: Reader<Readonly<Record<string, string>>>): Reader<Readonly<Record<string, string>>> =>
  (value, at, base, problems) => {
    for (const key of Object.keys(isRecord(value) ? value : {}))
      if (isReserved(key)) problems.push(`${at}.${key}: is a key of Kubernetes' or the run's own`);
    return reader(value, at, base, problems);
  };

const object: Reader<Readonly<Record<string, unknown>> | null> = (value, at, base, problems) =>
  isRecord(value) ? value : wrong(base, problems, at, `must be an object, not ${kindOf(value)}`);
const list: Reader<readonly unknown[] | null> = (value, at, base, problems) =>
  Array.isArray(value) ? value : wrong(base, problems, at, `must be a list, not ${kindOf(value)}`);

/** As in a pod: `[{ name: … }]`. */
const pullSecrets: Reader<readonly string[]> = (value, at, base, problems) =>
  (list(value, at, [], problems) ?? base).flatMap((item, index) => {
    const name = isRecord(item) && Object.keys(item).length === 1 ? item.name : undefined;
    return kubernetesName(name ?? 0, `${at}[${index}].name`, null, problems) ?? [];
  });

const TEMPLATE = (volumes: readonly Part[]) =>
  section<OfferedTemplate>({
    containers: (value, at, _, problems) => containers(value, at, volumes, false, problems),
    initContainers: (value, at, _, problems) => containers(value, at, volumes, true, problems),
    volumes: () => volumes,
    agent: section<OfferedTemplate["agent"]>({
      volumeMounts: (value, at, _, problems) => mounts(value, at, volumes, ownPath, problems),
      env: (value, at, _, problems) => variables(value, at, ownVariable, problems),
    }),
    labels: unreserved(labels),
    annotations: unreserved(annotations),
    priorityClassName: kubernetesName,
    runtimeClassName: kubernetesName,
    schedulerName: kubernetesName,
    nodeSelector: labels,
    tolerations: like(podFields.tolerations),
    imagePullSecrets: pullSecrets,
    affinity: object,
    dnsConfig: object,
    topologySpreadConstraints: list,
    hostAliases: list,
  });

/** `podTemplates` of the file: templates by name. */
export const offeredTemplates: Reader<Readonly<Record<string, OfferedTemplate>>> = (value, at, base, problems) => {
  if (value === null) return base;
  if (!isRecord(value)) return wrong(base, problems, at, `must be an object of templates, not ${kindOf(value)}`);
  const read = Object.entries(value).flatMap(([name, given]) => {
    const place = `${at}.${name}`;
    if (attempt(at, problems, (where) => dnsLabel(name, where)) === null) return [];
    if (given !== null && !isRecord(given)) return wrong([], problems, place, `must be an object, not ${kindOf(given)}`);
    if (!isPlain(given)) return wrong([], problems, place, "is too large or too deep, or refers to itself");
    return [[name, template(given ?? {}, place, problems)] as const];
  });
  return Object.fromEntries(read);
};

function template(given: Readonly<Record<string, unknown>>, at: string, problems: string[]): OfferedTemplate {
  const breaking = Object.keys(given).filter((key) => Object.hasOwn(BREAKS, key));
  for (const key of breaking) problems.push(`${at}.${key}: a template cannot have it: ${BREAKS[key]}`);
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !breaking.includes(key)));
  const volumes = rest.volumes === undefined ? [] : volumesOf(rest.volumes, `${at}.volumes`, problems);
  const read = TEMPLATE(volumes)(rest, at, EMPTY_TEMPLATE, problems);
  once([...read.initContainers, ...read.containers], "container", at, problems);
  once(read.volumes, "volume", at, problems);
  return read;
}

function once(parts: readonly Part[], what: string, at: string, problems: string[]): void {
  const names = parts.map(({ name }) => name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
    problems.push(`${at}: has more than one ${what} named ${quote(name)}`);
}

const MOST_VALUES = 10_000;
const DEEPEST = 30;

/** Whether it can be sent as JSON: a YAML file can refer to itself, and say much in a few lines. */
function isPlain(value: unknown): boolean {
  let left = MOST_VALUES;
  const look = (item: unknown, depth: number): boolean => {
    if (--left < 0 || depth > DEEPEST) return false;
    if (typeof item === "number") return Number.isFinite(item);
    if (typeof item !== "object" || item === null) return item === null || typeof item === "string" || typeof item === "boolean";
    return Object.values(item).every((inner) => look(inner, depth + 1));
  };
  return look(value, 0);
}
