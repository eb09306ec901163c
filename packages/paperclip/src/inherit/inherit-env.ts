import type { Findings, InheritedEnv, InheritSettings } from "./inherited.ts";
import { isListed } from "./listed-names.ts";
import { isObject, type Mount, mountAt, mountsNamedBy, mountsOf, nameOf, type ObjectMount } from "./mounts.ts";
import { matches } from "./name-patterns.ts";
import type { EnvReference, EnvSource } from "./own-pod.ts";
import type { ServerEnv, Variable } from "./server-env.ts";
import { HOST_SECRETS, type Withheld } from "./withheld-names.ts";

export interface ChosenEnv {
  readonly env: InheritedEnv;
  /** Files that variables taken over point to. */
  readonly files: ReadonlySet<ObjectMount>;
}

/** Whose names the log tells, by what became of them. */
class Left {
  readonly notListed: string[] = [];
  readonly withheld: string[] = [];
  readonly elsewhere: string[] = [];
  readonly unreachable: string[] = [];
  readonly unresolved: string[] = [];
}

/** The variables a run takes over: by value into its Secret, by reference, or whole objects. */
export function inheritEnv(server: ServerEnv, settings: InheritSettings, sameNamespace: boolean, findings: Findings): ChosenEnv {
  const left = new Left();
  const files = new Set<ObjectMount>();
  const literals: Record<string, string> = {};
  const references: EnvReference[] = [];
  const carried = carriedMounts(server, settings, sameNamespace);
  for (const variable of candidates(server, settings)) {
    if (!isTaken(variable, server, settings, left)) continue;
    if (!hasFiles(variable, server, carried, files, left)) continue;
    if ("value" in variable) literals[variable.name] = variable.value;
    else if ("valueFrom" in variable && isUsable(variable, sameNamespace, left)) references.push(variable);
  }
  const brought = settings.inherit === "listed" ? server.broughtAlong().filter(({ name }) => server.verdict(name) === "take") : [];
  for (const variable of brought) {
    if (!sameNamespace) left.elsewhere.push(variable.name);
    else if (hasFiles(variable, server, carried, files, left)) literals[variable.name] = server.valueOf(variable);
  }
  const from = server.pod.envFrom.filter(({ name }) => settings.inherit === "all" || matches(name, settings.inheritNames));
  const delivered = new Set([...Object.keys(literals), ...references.map(({ name }) => name)]);
  const env: InheritedEnv = {
    literals,
    references,
    from: sameNamespace ? from : [],
    hidden: sameNamespace ? hiddenNames(server, from, delivered) : [],
  };
  tell(findings, env, left, sameNamespace ? [] : from);
  return { env, files };
}

/** Only what the spec spells out is told about: the process's own variables are nobody's setting. */
function candidates(server: ServerEnv, settings: InheritSettings): Variable[] {
  const asked = settings.inheritNames.filter((name) => typeof server.verdict(name) === "object");
  const spelled = server.spelledOut();
  const known = new Set(spelled.map(({ name }) => name));
  return [...spelled, ...server.broughtAlong().filter(({ name }) => asked.includes(name) && !known.has(name))];
}

function isTaken(variable: Variable, server: ServerEnv, settings: InheritSettings, left: Left): boolean {
  const verdict = server.verdict(variable.name);
  if (verdict === "not-listed") left.notListed.push(variable.name);
  if (typeof verdict === "object") left.withheld.push(heldText(variable.name, verdict, settings));
  return verdict === "take";
}

const heldText = (name: string, { why }: Withheld, { inheritNames }: InheritSettings): string =>
  `${name} (${why}${inheritNames.includes(name) ? ", not given even by name" : ""})`;

/** Mounts a run's pod has as well, or can have. */
function carriedMounts(server: ServerEnv, settings: InheritSettings, sameNamespace: boolean): (mount: Mount) => boolean {
  const data = mountAt(mountsOf(server.pod), settings.dataPath);
  const secret = server.secretMounts();
  return (mount) => mount === data || (data?.mountPath === mount.mountPath) || (isObject(mount) && sameNamespace && !secret.has(mount));
}

/** A variable that names files the run will not have does more harm than none; one whose files can come along brings them. */
function hasFiles(variable: Variable, server: ServerEnv, carried: (mount: Mount) => boolean, files: Set<ObjectMount>, left: Left): boolean {
  if ("unresolved" in variable) {
    left.unresolved.push(`${variable.name} (made of ${variable.unresolved.join(", ")})`);
    return false;
  }
  const { on, below } = mountsNamedBy(server.valueOf(variable), mountsOf(server.pod));
  const missing = on.find((mount) => !carriedLike(mount, carried));
  if (missing !== undefined) {
    left.unreachable.push(`${variable.name} (${nameOf(missing)} at ${missing.mountPath})`);
    return false;
  }
  for (const mount of [...on, ...below]) if (isObject(mount) && carriedLike(mount, carried)) files.add(mount);
  return true;
}

const carriedLike = (mount: Mount, carried: (mount: Mount) => boolean): boolean => carried(mount);

/** Pods of another namespace cannot refer to the server's objects; a container's own resources mean nothing elsewhere. */
function isUsable({ name, valueFrom }: EnvReference, sameNamespace: boolean, left: Left): boolean {
  if ("fieldRef" in valueFrom) return true;
  const object = "secretKeyRef" in valueFrom || "configMapKeyRef" in valueFrom;
  if (!object) left.notListed.push(name);
  else if (!sameNamespace) left.elsewhere.push(name);
  return object && sameNamespace;
}

/** A whole Secret comes with all its names: those the server has now, and the worst even if it has them later. */
function hiddenNames(server: ServerEnv, from: readonly EnvSource[], delivered: ReadonlySet<string>): string[] {
  if (from.length === 0) return [];
  const prefixes = [...new Set(from.map(({ prefix }) => prefix))];
  const isSecret = (name: string): boolean => {
    const verdict = server.verdict(name);
    return typeof verdict === "object" && verdict.kind !== "setting";
  };
  const present = server.names().filter((name) => ["", ...prefixes].some((prefix) => name.startsWith(prefix) && isSecret(name.slice(prefix.length))));
  const worst = HOST_SECRETS.filter((name) => !name.endsWith("*")).flatMap((name) => prefixes.map((prefix) => `${prefix}${name}`));
  return [...new Set([...present, ...worst])].filter((name) => !delivered.has(name)).sort();
}

function tell(findings: Findings, env: InheritedEnv, left: Left, lost: readonly EnvSource[]): void {
  const note = (what: string, names: readonly string[]) => names.length > 0 && findings.notes.push(`${what}: ${names.join(", ")}`);
  const warn = (what: string, names: readonly string[]) => names.length > 0 && findings.warnings.push(`${what}: ${names.join(", ")}`);
  note("environment taken from the server's pod", [...Object.keys(env.literals), ...env.references.map(({ name }) => name)].sort());
  note("environment taken whole", env.from.map(sourceName));
  note("set empty, since whole objects cannot be taken without them", env.hidden);
  note("environment left with the server, not listed", left.notListed.sort());
  // What a list would have given is missed by somebody.
  const expected = left.withheld.filter((text) => isListed(text.split(" ")[0]!) || text.includes("even by name"));
  note("environment left with the server", left.withheld.filter((text) => !expected.includes(text)).sort());
  warn("not taken from the server's environment; name them in inheritNames or set them in env", expected.sort());
  warn("not taken, they are in Secrets or ConfigMaps of the server's namespace; set them in env", [...left.elsewhere.sort(), ...lost.map(sourceName)]);
  warn("not taken, they name files on volumes that runs do not have", left.unreachable.sort());
  warn("not taken, their values are made of others that are not known here; set them in env", left.unresolved.sort());
}

const sourceName = ({ kind, name }: EnvSource): string => `${kind === "secret" ? "Secret" : "ConfigMap"} ${name}`;
