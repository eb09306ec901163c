import { HOST_SECRETS } from "./denylist.ts";
import type { Findings, InheritedEnv, InheritSettings } from "./inherited.ts";
import { LeftVariables, tellEnv } from "./log-env.ts";
import { isObject, type Mount, mountAt, mountsNamedBy, nameOf, type ObjectMount } from "./mounts.ts";
import { isOpen, matches } from "./name-patterns.ts";
import type { EnvReference, EnvSource } from "./own-pod.ts";
import type { ServerEnv, Variable } from "./server-env.ts";

export interface EnvInput {
  readonly server: ServerEnv;
  readonly settings: InheritSettings;
  readonly sameNamespace: boolean;
}

export interface ChosenEnv {
  readonly env: InheritedEnv;
  /** Files that variables taken over point to. */
  readonly files: ReadonlySet<ObjectMount>;
}

/** The variables a run takes over: by value into its Secret, by reference, or whole objects. */
export function inheritEnv(input: EnvInput, findings: Findings): ChosenEnv {
  const { server, settings, sameNamespace } = input;
  const left = new LeftVariables();
  const files = new Set<ObjectMount>();
  const literals: Record<string, string> = {};
  const references: EnvReference[] = [];
  const isThere = reachable(input);
  for (const variable of [...server.spelledOut().filter((each) => mayGo(each, server, left)), ...listedOfWhole(input, left)]) {
    if (!hasFiles(variable, server, isThere, files, left)) continue;
    if ("value" in variable) literals[variable.name] = variable.value;
    else if ("valueFrom" in variable && isUsable(variable, sameNamespace, left)) references.push(variable);
  }
  const asked = server.pod.envFrom.filter(({ name }) => settings.inherit === "all" || matches(name, settings.inheritNames));
  const from = sameNamespace ? asked : [];
  const env = { literals, references, from, hidden: hiddenNames(server, from, [...Object.keys(literals), ...references.map(nameOfEntry)]) };
  left.sources.push(...asked.filter((source) => !from.includes(source)));
  tellEnv(findings, env, left);
  return { env, files };
}

const nameOfEntry = ({ name }: { readonly name: string }): string => name;

function mayGo(variable: Variable, server: ServerEnv, left: LeftVariables): boolean {
  const verdict = server.verdict(variable.name);
  if (verdict === "not-listed") left.notListed.push(variable.name);
  else if (verdict !== "take") left.withheld.push({ name: variable.name, ...verdict });
  return verdict === "take";
}

/** With a list, whole Secrets stay behind and the listed values of them come by themselves. */
function listedOfWhole({ server, settings, sameNamespace }: EnvInput, left: LeftVariables): Variable[] {
  if (settings.inherit === "all") return [];
  const listed = server.broughtAlong().filter(({ name }) => server.verdict(name) === "take");
  if (sameNamespace) return listed;
  left.elsewhere.push(...listed.map(nameOfEntry));
  return [];
}

/** Mounts a run's pod has as well, or can have. */
function reachable({ server, settings, sameNamespace }: EnvInput): (mount: Mount) => boolean {
  const data = mountAt(server.mounts, settings.dataPath);
  const secret = server.secretMounts();
  return (mount) => mount === data || (isObject(mount) && sameNamespace && !secret.has(mount));
}

/** A variable that names files the run will not have does more harm than none; files that can come along do. */
function hasFiles(
  variable: Variable,
  server: ServerEnv,
  isThere: (mount: Mount) => boolean,
  files: Set<ObjectMount>,
  left: LeftVariables,
): boolean {
  if ("unresolved" in variable) {
    left.unresolved.push(`${variable.name} (made of ${variable.unresolved.join(", ")})`);
    return false;
  }
  const { on, below } = mountsNamedBy(server.valueOf(variable), server.mounts);
  const missing = on.find((mount) => !isThere(mount));
  if (missing !== undefined) {
    left.unreachable.push(`${variable.name} (${nameOf(missing)} at ${missing.mountPath})`);
    return false;
  }
  for (const mount of [...on, ...below]) if (isObject(mount) && isThere(mount)) files.add(mount);
  return true;
}

/** Pods of another namespace cannot refer to the server's objects; a container's own resources mean nothing elsewhere. */
function isUsable({ name, valueFrom }: EnvReference, sameNamespace: boolean, left: LeftVariables): boolean {
  if ("fieldRef" in valueFrom) return true;
  const object = "secretKeyRef" in valueFrom || "configMapKeyRef" in valueFrom;
  if (!object) left.withheld.push({ name, kind: "setting", why: "made of the server's container itself" });
  else if (!sameNamespace) left.elsewhere.push(name);
  return object && sameNamespace;
}

/** A whole Secret comes with all its names: hidden are those the server has now, and the worst even if they are added later. */
function hiddenNames(server: ServerEnv, from: readonly EnvSource[], delivered: readonly string[]): string[] {
  const prefixes = [...new Set(from.map(({ prefix }) => prefix))];
  const isSecret = (name: string): boolean => {
    const verdict = server.verdict(name);
    return typeof verdict === "object" && verdict.kind !== "setting";
  };
  const present = server.names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix) && isSecret(name.slice(prefix.length))));
  const worst = HOST_SECRETS.filter((name) => !isOpen(name)).flatMap((name) => prefixes.map((prefix) => `${prefix}${name}`));
  return [...new Set([...present, ...worst])].filter((name) => !delivered.includes(name)).sort();
}
