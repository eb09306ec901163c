import { isRecord } from "../host/context-values.ts";
import { kindOf, quote } from "../settings/config-error.ts";
import { clusterFields } from "../settings/fields/cluster.ts";
import { podFields } from "../settings/fields/pod.ts";
import { stateFields } from "../settings/fields/state.ts";
import { absolutePath, dnsSubdomain } from "../settings/kinds/text-checks.ts";
import { agentRules } from "./agent-rules.ts";
import { defaultSettings } from "./given-settings.ts";
import { offeredTemplates } from "./pod-template.ts";
import { DEFAULT_POLICY, type ForcedPod, type Policy, type PolicyTools, type PolicyVolume, type SeedSource } from "./policy.ts";
import {
  annotations,
  attempt,
  bytes,
  flag,
  kubernetesName,
  labels,
  like,
  maybeFlag,
  paths,
  type Reader,
  seconds,
  section,
  text,
  texts,
  wrong,
} from "./readers.ts";

export interface ParsedPolicy {
  readonly policy: Policy;
  /** What is wrong in the file, each with its place; a policy with problems is not to be used. */
  readonly problems: readonly string[];
}

/** A policy file's content, once it is no longer YAML. */
export function parsePolicy(value: unknown, source: string): ParsedPolicy {
  const problems: string[] = [];
  const { source: _, ...base } = DEFAULT_POLICY;
  const policy = { source, ...POLICY(value, "", base, problems) };
  const templates: readonly (readonly [at: string, name: string | null | undefined])[] = [
    ["defaults", policy.defaults.podTemplate],
    ["force", policy.force.podTemplate],
    ...policy.agents.map(({ defaults }, index) => [`agents[${index}].defaults`, defaults.podTemplate] as const),
  ];
  for (const [at, name] of templates)
    if (name != null && !Object.hasOwn(policy.podTemplates, name))
      problems.push(`${at}.podTemplate: ${quote(name)} is not among podTemplates`);
  return { policy, problems };
}

const FORCE = section<ForcedPod>({
  runtimeClassName: kubernetesName,
  podTemplate: kubernetesName,
  hostUsers: maybeFlag,
  priorityClassName: kubernetesName,
  readOnlyRootFilesystem: flag,
  doNotDisrupt: flag,
  nodeSelector: labels,
  labels,
  annotations,
});

const mount: Reader<PolicyVolume["mount"]> = (value, at, base, problems) =>
  value === "scoped" || value === "whole" ? value : wrong(base, problems, at, `must be scoped or whole, not ${quote(value)}`);

/** A path alone is read-only. */
const mounts: Reader<PolicyVolume["paths"]> = (value, at, base, problems) => {
  if (!Array.isArray(value)) return wrong(base, problems, at, `must be a list, not ${kindOf(value)}`);
  return value.flatMap((item: unknown, index) => {
    const place = `${at}[${index}]`;
    const given = isRecord(item) ? item : { path: item };
    const stray = Object.keys(given).find((key) => key !== "path" && key !== "readOnly");
    if (stray !== undefined) problems.push(`${place}.${stray}: there is no such key; there are path, readOnly`);
    const readOnly = given.readOnly === undefined ? true : flag(given.readOnly, `${place}.readOnly`, true, problems);
    const path = text(absolutePath)(given.path ?? 0, `${place}.path`, null, problems);
    return path === null ? [] : [{ path, readOnly }];
  });
};

const seeds: Reader<SeedSource | null> = (value, at, base, problems) => {
  if (value === null) return null;
  const entries = isRecord(value) ? Object.entries(value) : [];
  const [kind, name] = entries[0] ?? [];
  if (entries.length !== 1 || typeof name !== "string" || (kind !== "secret" && kind !== "folder"))
    return wrong(base, problems, at, "must be { secret: <name> } or { folder: <absolute path> }");
  const check = kind === "secret" ? dnsSubdomain : absolutePath;
  const checked = attempt(`${at}.${kind}`, problems, (place) => check(name, place));
  return checked === null ? base : kind === "secret" ? { secret: checked } : { folder: checked };
};

const toolsMount: Reader<PolicyTools["mount"]> = (value, at, base, problems) =>
  value === "copy" || value === "image-volume" ? value : wrong(base, problems, at, `must be copy or image-volume, not ${quote(value)}`);

const POLICY = section<Omit<Policy, "source">>({
  defaults: defaultSettings,
  agents: agentRules,
  allow: section<Policy["allow"]>({
    kubeconfigs: paths,
    namespaces: texts,
    sameNames: texts,
    serviceAccounts: texts,
    claims: texts,
    dataPaths: paths,
    files: paths,
    images: texts,
    nodeSelectors: texts,
    tolerations: texts,
    labels: texts,
    runtimeClasses: texts,
    podTemplates: texts,
    networkScopes: texts,
    storageClasses: texts,
    environment: texts,
    inheritedEnvironment: texts,
    secrets: texts,
    inheritAll: flag,
    retainJobs: flag,
    serverContainers: texts,
  }),
  limits: section<Policy["limits"]>({
    cpu: like(podFields.limitCpu),
    memory: like(podFields.limitMemory),
    ephemeralStorage: like(podFields.limitMemory),
    storageCapacity: like(stateFields.agentDbStorageCapacity),
    runSec: seconds,
    graceSec: seconds,
    scheduleTimeoutSec: seconds,
    ttlSecondsAfterFinished: seconds,
    outputBytes: bytes,
    keepOutputBytes: (value, at, base, problems) => (value === 0 ? 0 : bytes(value, at, base, problems)),
  }),
  force: FORCE,
  volume: section<PolicyVolume>({ mount, paths: mounts }),
  seeds,
  podTemplates: offeredTemplates,
  tools: section<PolicyTools>({ image: like(clusterFields.image), mount: toolsMount }),
});
