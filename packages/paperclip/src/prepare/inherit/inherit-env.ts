import type { EnvReference, EnvSource } from "@paperclip-k8s/engine";
import { HOST_SECRETS, isOpen, matches } from "./denylist.ts";
import type { Findings, InheritedEnv, InheritSettings } from "./inherited.ts";
import { isObject, type Mount, mountAt, nameOf, type ObjectMount } from "./mounts.ts";
import type { ServerPod, Variable } from "./server-pod.ts";

export interface EnvInput {
  readonly server: ServerPod;
  readonly settings: InheritSettings;
  readonly sameNamespace: boolean;
}

/** Why variables stay with the server, and the log line about it: a warning where somebody will miss one. */
const REASONS = {
  notAllowed: ["notes", "environment left with the server, not on the allowlist"],
  denied: ["notes", "environment left with the server"],
  missed: [
    "warnings",
    "environment left with the server; to give it to agents, set it under Environment variables, or name it in Also inherit (inheritNames) and in allow.inheritedEnvironment of the policy",
  ],
  otherNamespace: [
    "warnings",
    "environment not taken: it is in Secrets or ConfigMaps of the server's namespace; set it under Environment variables",
  ],
  unreachable: ["warnings", "environment not taken: it names files on volumes that runs do not have"],
  unresolved: [
    "warnings",
    "environment not taken: it is made of other variables that are not known here; set it under Environment variables",
  ],
} as const;
type Leave = (reason: keyof typeof REASONS, name: string) => void;

/** The variables a run inherits: by value into its Secret, by reference, or whole objects; and the files that they point to. */
export function inheritEnv(input: EnvInput, findings: Findings): { env: InheritedEnv; files: ReadonlySet<ObjectMount> } {
  const { server, settings, sameNamespace } = input;
  const left = new Map<keyof typeof REASONS, string[]>();
  const leave: Leave = (reason, name) => left.set(reason, [...(left.get(reason) ?? []), name]);
  const files = new Set<ObjectMount>();
  const chosen = [...server.spelledOut.filter(({ name }) => mayGo(name, server, leave)), ...allowedOfWhole(input)]
    .filter((variable) => hasFiles(variable, input, files, leave))
    .map((variable) => (sameNamespace ? variable : server.withValue(variable)))
    .filter((variable) => isUsable(variable, sameNamespace, leave));
  const asked = server.pod.envFrom.filter(({ name }) => settings.inherit === "all" || matches(name, settings.inheritNames));
  const from = sameNamespace ? asked : [];
  for (const source of asked) if (!sameNamespace) leave("otherNamespace", sourceName(source));
  const literals = Object.fromEntries(chosen.flatMap((each) => ("value" in each && each.value !== null ? [[each.name, each.value]] : [])));
  const references = chosen.filter((each): each is EnvReference => "valueFrom" in each);
  const names = chosen.map(({ name }) => name);
  const env = { literals, references, from, hidden: hiddenNames(server, from, names) };
  logNames(findings.notes, "environment of the server's pod taken", names);
  logNames(findings.notes, "environment taken whole", from.map(sourceName));
  logNames(findings.notes, "set empty, as a whole object cannot be taken without them", env.hidden);
  for (const [reason, [level, text]] of Object.entries(REASONS))
    logNames(findings[level], text, left.get(reason as keyof typeof REASONS) ?? []);
  return { env, files };
}

/** Names only, never values. */
function logNames(lines: string[], what: string, names: readonly string[]): void {
  if (names.length > 0) lines.push(`${what}: ${[...names].sort().join(", ")}`);
}

const sourceName = ({ kind, name }: EnvSource): string => `${kind === "secret" ? "Secret" : "ConfigMap"} ${name}`;

function mayGo(name: string, { rules }: ServerPod, leave: Leave): boolean {
  const decision = rules.decide(name);
  if (decision === "not-allowed") leave("notAllowed", name);
  else if (decision !== "take")
    leave(decision.kind === "credential" && rules.isAllowed(name) ? "missed" : "denied", `${name} (${decision.why})`);
  return decision === "take";
}

/** With an allowlist, whole Secrets stay with the server, and the allowed values of them are copied. */
function allowedOfWhole({ server, settings }: EnvInput): readonly Variable[] {
  if (settings.inherit === "all") return [];
  return server.fromWholeObjects.filter(({ name }) => server.rules.decide(name) === "take");
}

/** Leaves out a variable that names files which the run's pod cannot have; collects the files that it can have. */
function hasFiles(variable: Variable, input: EnvInput, files: Set<ObjectMount>, leave: Leave): boolean {
  const { server, settings, sameNamespace } = input;
  const data = mountAt(server.mounts, settings.dataPath);
  const isThere = (mount: Mount) => mount === data || (isObject(mount) && sameNamespace && !server.secretMounts.has(mount));
  const { on, below } = server.mountsNamedBy(variable);
  const missing = on.find((mount) => !isThere(mount));
  if (missing !== undefined) leave("unreachable", `${variable.name} (${nameOf(missing)} at ${missing.mountPath})`);
  else for (const mount of [...on, ...below]) if (isObject(mount) && isThere(mount)) files.add(mount);
  return missing === undefined;
}

/** Pods of another namespace cannot refer to the server's objects, only have their values; a container's own resources mean nothing elsewhere. */
function isUsable(variable: Variable, sameNamespace: boolean, leave: Leave): boolean {
  const { name } = variable;
  if ("value" in variable) {
    if (variable.value === null) leave("unresolved", name);
    return variable.value !== null;
  }
  if ("fieldRef" in variable.valueFrom) return true;
  const object = "secretKeyRef" in variable.valueFrom || "configMapKeyRef" in variable.valueFrom;
  if (!object) leave("denied", `${name} (made of the server's container itself)`);
  else if (!sameNamespace) leave("otherNamespace", name);
  return object && sameNamespace;
}

/** A Secret that is taken whole brings all its variables. The server's own secrets among them are set empty: those it has now, and the known names even if they are added later. */
function hiddenNames({ rules }: ServerPod, from: readonly EnvSource[], delivered: readonly string[]): string[] {
  const prefixes = [...new Set(from.map(({ prefix }) => prefix))];
  const isSecret = (name: string): boolean => {
    const decision = rules.decide(name);
    return typeof decision === "object" && decision.kind !== "setting";
  };
  const present = rules.names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix) && isSecret(name.slice(prefix.length))));
  const worst = HOST_SECRETS.filter((name) => !isOpen(name)).flatMap((name) => prefixes.map((prefix) => `${prefix}${name}`));
  return [...new Set([...present, ...worst])].filter((name) => !delivered.includes(name)).sort();
}
