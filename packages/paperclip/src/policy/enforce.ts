import { overlaps } from "@paperclip-k8s/engine";
import { DEFAULT_HOME, homeOf } from "../host/paths.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { few, quote } from "../settings/config-error.ts";
import { SERVER_CONTAINER_NAMES } from "../settings/fields/cluster.ts";
import { amountOf } from "../settings/kinds/scalar.ts";
import { resources } from "../settings/resources.ts";
import { defaultsOf } from "./defaults-of.ts";
import { allows, allowsBeginning, allowsPath } from "./patterns.ts";
import type { OfferedTemplate } from "./pod-template.ts";
import type { Policy } from "./policy.ts";
import { Refusals } from "./refusal.ts";

/** What besides the settings decides, and is known before anything is asked of the cluster. */
interface ServerFacts {
  readonly env: NodeJS.ProcessEnv;
  /** Namespaces that are the server's own: of its pod, or of its kubeconfig's context. */
  readonly namespaces: readonly string[];
  /** Name of the agent's own container. */
  readonly container: string;
  /** Whether any agent may have this variable of the server without being given it by name. */
  readonly isBuiltIn: (name: string) => boolean;
  /** Whether the host has set this variable of the agent's env, and not its settings. */
  readonly isSetByHost: (name: string) => boolean;
}

/** Everything in an agent's settings that the policy does not allow, as far as the settings alone show it. */
export function enforce(config: AgentConfig, policy: Policy, facts: ServerFacts, refusals = new Refusals(policy)): Refusals {
  place(config, policy, facts, refusals);
  template(config, policy, facts, refusals);
  environment(config, policy, facts, refusals);
  amounts(config, policy, refusals);
  return refusals;
}

function place(config: AgentConfig, { allow, defaults }: Policy, { env, namespaces }: ServerFacts, refusals: Refusals): void {
  const { namespace, image, serviceAccountName, dataPath, serverContainer, runtimeClassName, agentDbStorageClass } = config;
  const refused = (value: string | null, own: string | null | undefined, list: readonly string[]): value is string =>
    value !== null && value !== own && !allows(list, value);
  // Agents that were given a namespace must not leave it for the server's own.
  const own = defaults.namespace == null ? namespaces : [];
  if (refused(namespace, defaults.namespace, [...own, ...allow.namespaces])) refusals.notListed("namespace", "namespaces", namespace);
  if (refused(image, defaults.image, allow.images)) refusals.notListed("image", "images", image);
  if (refused(serviceAccountName, defaults.serviceAccountName, allow.serviceAccounts))
    refusals.notListed("serviceAccountName", "serviceAccounts", serviceAccountName);
  if (refused(serverContainer, defaults.serverContainer, [...SERVER_CONTAINER_NAMES, ...allow.serverContainers]))
    refusals.notListed("serverContainer", "serverContainers", serverContainer);
  if (refused(runtimeClassName, defaults.runtimeClassName, allow.runtimeClasses))
    refusals.notListed("runtimeClassName", "runtimeClasses", runtimeClassName);
  if (refused(agentDbStorageClass, defaults.agentDbStorageClass, allow.storageClasses))
    refusals.notListed("agentDbStorageClass", "storageClasses", agentDbStorageClass);
  if (!mayHaveDataPath(dataPath, { allow, defaults }, env)) refusals.notListed("dataPath", "dataPaths", dataPath);
  for (const [key, value] of Object.entries(config.labels))
    if (defaults.labels?.[key] !== value && !allows(allow.labels, key)) refusals.notListed("labels", "labels", key);
  const { networkScope, networkAllowlist } = config;
  if (networkScope !== "none" && !allows(allow.networkScopes, networkScope)) {
    const hosts = networkScope === "allowlist" ? ` with ${few(networkAllowlist)}` : "";
    const promise = `"${networkScope}"${hosts} is a promise that only the cluster's network policies can keep, and`;
    refusals.notListed("networkScope", "networkScopes", networkScope, `${promise} it`);
  }
  if (config.retainJobs && !defaults.retainJobs && !allow.retainJobs) refusals.notOn("retainJobs", "retainJobs", "true");
}

/** Which template, and that it leaves alone what only the agent's settings and its CLI name. */
function template(config: AgentConfig, policy: Policy, { container }: ServerFacts, refusals: Refusals): void {
  const { allow, defaults, force, podTemplates } = policy;
  const name = force.podTemplate ?? config.podTemplate;
  if (name === null) return;
  const found = Object.hasOwn(podTemplates, name) ? podTemplates[name] : undefined;
  const there = Object.keys(podTemplates).filter((each) => allows(allow.podTemplates, each));
  const offered = there.length === 0 ? "which offers none" : `which offers ${there.join(", ")}`;
  if (found === undefined) refusals.never("podTemplate", `${quote(name)} is no pod template of the operator's policy, ${offered}`);
  else if (![force.podTemplate, defaults.podTemplate].includes(name) && !allows(allow.podTemplates, name))
    refusals.notListed("podTemplate", "podTemplates", name);
  else leavesAlone(found, config, container, refusals);
}

function leavesAlone({ initContainers, containers, agent }: OfferedTemplate, config: AgentConfig, own: string, refusals: Refusals): void {
  const refuse = (what: string) => refusals.never("podTemplate", `${what}; the operator must change the template in the policy`);
  if ([...initContainers, ...containers].some(({ name }) => name === own)) refuse(`its container ${own} has the name of the agent's own`);
  for (const { mountPath } of agent.volumeMounts)
    if (overlaps(mountPath, config.dataPath)) refuse(`it mounts a volume at ${mountPath}, where the agent has ${config.dataPath}`);
}

/** Whether agents may have the shared volume at this path. */
export function mayHaveDataPath(
  dataPath: string,
  { allow, defaults }: Pick<Policy, "allow" | "defaults">,
  env: NodeJS.ProcessEnv,
): boolean {
  return [homeOf(env), DEFAULT_HOME, defaults.dataPath].includes(dataPath) || allowsPath(allow.dataPaths, dataPath);
}

/** Set by the host itself, whatever an agent's settings say. */
const OF_THE_HOST = /^(PAPERCLIP_\w*|TMPDIR|TEMP|TMP|GH_CONFIG_DIR)$/;

function environment(config: AgentConfig, { allow, defaults }: Policy, { isBuiltIn, isSetByHost }: ServerFacts, refusals: Refusals): void {
  if (config.inherit === "all" && defaults.inherit !== "all" && !allow.inheritAll) refusals.notOn("inherit", "inheritAll", '"all"');
  for (const name of Object.keys(config.env))
    if (!OF_THE_HOST.test(name) && !isSetByHost(name) && !allows(allow.environment, name)) refusals.notListed("env", "environment", name);
  for (const name of config.inheritNames) {
    if (defaults.inheritNames?.includes(name)) continue;
    const allowed = (list: readonly string[]) => (name.endsWith("*") ? allowsBeginning(list, name.slice(0, -1)) : allows(list, name));
    // A name is of a Secret, of a ConfigMap or of a variable; a beginning may be of all three.
    const mayBeObject = /^[a-z0-9.-]*\*?$/.test(name);
    const mayBeVariable = name === "*" || !mayBeObject;
    if (mayBeObject && !allowed(allow.secrets)) refusals.notListed("inheritNames", "secrets", name);
    if (mayBeVariable && !isBuiltIn(name) && !allowed(allow.inheritedEnvironment))
      refusals.notListed("inheritNames", "inheritedEnvironment", name);
  }
}

function amounts(config: AgentConfig, policy: Policy, refusals: Refusals): void {
  const { limits, defaults } = policy;
  const asked = config.resources.limits;
  const given = resources([{}, defaultsOf(policy)]).resources.limits;
  const quantities = [
    ["resources.limits.cpu", "cpu", asked.cpu, given.cpu],
    ["resources.limits.memory", "memory", asked.memory, given.memory],
    ["agentDbStorageCapacity", "storageCapacity", config.agentDbStorageCapacity, defaults.agentDbStorageCapacity],
  ] as const;
  for (const [field, limit, value, own] of quantities)
    if (value !== own && amountOf(value) > amountOf(limits[limit])) refusals.tooMuch(field, limit, value);
  const times = [
    ["timeoutSec", "runSec"],
    ["maxRunSec", "runSec"],
    ["graceSec", "graceSec"],
    ["scheduleTimeoutSec", "scheduleTimeoutSec"],
    ["ttlSecondsAfterFinished", "ttlSecondsAfterFinished"],
  ] as const;
  for (const [field, limit] of times)
    if (config[field] !== defaults[field] && config[field] > limits[limit]) refusals.tooMuch(field, limit, config[field]);
}
