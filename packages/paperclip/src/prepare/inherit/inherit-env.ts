import type { EnvReference, EnvSource } from "@paperclip-k8s/engine";
import { recordOf } from "../../host/context-values.ts";
import { HOST_SECRETS, isOpen, matches } from "./denylist.ts";
import type { Findings, InheritedEnv, InheritSettings } from "./inherited.ts";
import { isObject, type Mount, mountAt, nameOf, type ObjectMount } from "./mounts.ts";
import { objectLabel, type RunObjects } from "./run-objects.ts";
import type { ServerPod, Variable } from "./server-pod.ts";

export interface EnvInput {
  readonly server: ServerPod;
  readonly settings: InheritSettings;
  readonly objects: RunObjects;
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
  missing: [
    "warnings",
    "environment not taken: the run's namespace has no Secret or ConfigMap of that name; make it there, or set the variable under Environment variables",
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
  const { server, settings, objects } = input;
  const left = new Map<keyof typeof REASONS, string[]>();
  const leave: Leave = (reason, name) => left.set(reason, [...(left.get(reason) ?? []), name]);
  const files = new Set<ObjectMount>();
  const chosen = [...server.spelledOut.filter(({ name }) => mayGo(name, server, leave)), ...allowedOfWhole(input)]
    .filter((variable) => hasFiles(variable, input, files, leave))
    .map((variable) => (isSeen(variable, objects) ? variable : server.withValue(variable)))
    .filter((variable) => isUsable(variable, objects, leave));
  const asked = server.pod.envFrom.filter(({ name }) => settings.inherit === "all" || matches(name, settings.inheritNames));
  const from = asked.filter((source) => {
    const isTaken = objects.take(source.kind, source.name) || (source.optional && objects.reach !== "none");
    if (!isTaken) leave(objects.reach === "none" ? "otherNamespace" : "missing", sourceName(source));
    return isTaken;
  });
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

const sourceName = ({ kind, name }: EnvSource): string => objectLabel(kind, name);

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
  const { server, settings, objects } = input;
  const data = mountAt(server.mounts, settings.dataPath);
  const isThere = (mount: Mount) =>
    mount === data || (isObject(mount) && !server.secretMounts.has(mount) && objects.state(mount.kind, mount.volume.name) !== "missing");
  const { on, below } = server.mountsNamedBy(variable);
  const missing = on.find((mount) => !isThere(mount));
  if (missing !== undefined) leave("unreachable", `${variable.name} (${nameOf(missing)} at ${missing.mountPath})`);
  else for (const mount of [...on, ...below]) if (isObject(mount) && isThere(mount)) files.add(mount);
  return missing === undefined;
}

interface ObjectKey {
  readonly kind: "secret" | "configMap";
  readonly name: string;
  readonly optional: boolean;
}

/** The Secret or ConfigMap that a variable refers to; null = it refers to none. */
function objectOf(variable: Variable): ObjectKey | null {
  if ("value" in variable) return null;
  const { secretKeyRef, configMapKeyRef } = variable.valueFrom;
  const reference = recordOf(secretKeyRef ?? configMapKeyRef);
  if (secretKeyRef === undefined && configMapKeyRef === undefined) return null;
  return { kind: secretKeyRef === undefined ? "configMap" : "secret", name: String(reference.name), optional: reference.optional === true };
}

/** Whether what it refers to is certainly there for the run; if not, the server's own value of it is better than a pod that cannot start. */
function isSeen(variable: Variable, objects: RunObjects): boolean {
  const object = objectOf(variable);
  return object === null || objects.state(object.kind, object.name) === "there";
}

/** Pods of another namespace cannot refer to the server's objects, only to those of the same names there; a container's own resources mean nothing elsewhere. */
function isUsable(variable: Variable, objects: RunObjects, leave: Leave): boolean {
  const { name } = variable;
  if ("value" in variable) {
    if (variable.value === null) leave("unresolved", name);
    return variable.value !== null;
  }
  if ("fieldRef" in variable.valueFrom) return true;
  const object = objectOf(variable);
  if (object === null) {
    leave("denied", `${name} (made of the server's container itself)`);
    return false;
  }
  const isTaken = objects.take(object.kind, object.name) || (object.optional && objects.reach !== "none");
  if (objects.reach === "none") leave("otherNamespace", name);
  else if (!isTaken) leave("missing", `${name} (${objectLabel(object.kind, object.name)})`);
  return isTaken;
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
