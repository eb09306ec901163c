import { isRecord } from "../host/context-values.ts";
import { kindOf, quote } from "../settings/config-error.ts";
import { dnsLabel, imageReference, mountPath } from "../settings/kinds/text-checks.ts";
import { similar } from "../settings/similar.ts";
import { attempt } from "./readers.ts";

// Parts of a pod template, as Kubernetes writes them. What the API server checks itself is passed on; here is what would break a run, and what is misspelt.

export type Part = { readonly name: string } & Readonly<Record<string, unknown>>;
export type MountPart = Part & { readonly mountPath: string };

type Kind = "text" | "flag" | "texts" | "list" | "object";

const CONTAINER = {
  name: "text",
  image: "text",
  imagePullPolicy: "text",
  command: "texts",
  args: "texts",
  workingDir: "text",
  env: "list",
  envFrom: "list",
  ports: "list",
  resources: "object",
  volumeMounts: "list",
  startupProbe: "object",
  livenessProbe: "object",
  readinessProbe: "object",
  lifecycle: "object",
  securityContext: "object",
  terminationMessagePath: "text",
  terminationMessagePolicy: "text",
  restartPolicy: "text",
} as const satisfies Record<string, Kind>;

const MOUNT = { name: "text", mountPath: "text", subPath: "text", subPathExpr: "text", readOnly: "flag" } as const;
const VARIABLE = { name: "text", value: "text", valueFrom: "object" } as const;

/** Kinds of volumes that say nothing of the node and carry no token of the cluster. */
const SOURCES = ["emptyDir", "configMap", "secret", "persistentVolumeClaim", "image", "ephemeral", "csi", "downwardAPI"];
const REFUSED_SOURCES: Readonly<Record<string, string>> = {
  hostPath: "the pod would write to its node, which Pod Security and the admission policies refuse",
  projected: "it may carry a service account's token, which agents do not get",
};

/** Names that a run's own pod uses, or may use. */
const OWN_VOLUMES = /^(shared|(agent|own|object)(-.*)?)$/;
const OWN_CONTAINERS = /^(agent|hand-over)(-.*)?$/;

export function containers(value: unknown, at: string, volumes: readonly Part[], isInit: boolean, problems: string[]): Part[] {
  return each(value, at, problems, (given, place) => {
    if (!isInit && given.restartPolicy !== undefined)
      problems.push(`${place}.restartPolicy: is not for you to set: what runs beside the agent is restarted until the agent has ended`);
    else if (given.restartPolicy !== undefined && given.restartPolicy !== "Always")
      problems.push(`${place}.restartPolicy: must be Always, which makes it run beside the agent from its place in the order on`);
    const read = part(given, place, CONTAINER, problems);
    if (read === null) return null;
    if (OWN_CONTAINERS.test(read.name))
      problems.push(`${place}.name: ${quote(read.name)} is a name of the run's own containers; take another`);
    if (typeof read.image !== "string") problems.push(`${place}.image: is missing`);
    else attempt(`${place}.image`, problems, (where) => imageReference(read.image as string, where));
    (Array.isArray(read.ports) ? read.ports : []).forEach((port: unknown, index) => {
      if (isRecord(port) && port.hostPort !== undefined)
        problems.push(`${place}.ports[${index}].hostPort: opens a port of the node, so that only one run fits on it; leave it out`);
    });
    if (read.env !== undefined) variables(read.env, `${place}.env`, () => null, problems);
    if (read.volumeMounts !== undefined) mounts(read.volumeMounts, `${place}.volumeMounts`, volumes, () => null, problems);
    return read;
  });
}

export function volumesOf(value: unknown, at: string, problems: string[]): Part[] {
  return each(value, at, problems, (given, place) => {
    const { name, ...sources } = given;
    const read = named(name, place, problems);
    if (read === null) return null;
    if (OWN_VOLUMES.test(read)) problems.push(`${place}.name: ${quote(read)} is a name of the run's own volumes; take another`);
    const kinds = Object.keys(sources);
    for (const kind of kinds)
      if (!SOURCES.includes(kind))
        problems.push(`${place}.${kind}: ${REFUSED_SOURCES[kind] ?? `there is no such kind of volume; there are ${SOURCES.join(", ")}`}`);
    if (kinds.length !== 1) problems.push(`${place}: must have a name and exactly one of ${SOURCES.join(", ")}`);
    else if (!isRecord(sources[kinds[0] ?? ""])) problems.push(`${place}.${kinds[0]}: must be an object`);
    return { ...given, name: read };
  });
}

/** `refusal`: why a path cannot be mounted at; null = it can. */
export function mounts(
  value: unknown,
  at: string,
  volumes: readonly Part[],
  refusal: (path: string) => string | null,
  problems: string[],
): MountPart[] {
  const seen = new Set<string>();
  return each(value, at, problems, (given, place) => {
    const read = part(given, place, MOUNT, problems);
    if (read === null) return null;
    if (!volumes.some(({ name }) => name === read.name))
      problems.push(`${place}.name: ${quote(read.name)} is not among the volumes of this template`);
    const path = attempt(`${place}.mountPath`, problems, (where) => mountPath(String(given.mountPath ?? ""), where));
    if (path === null) return null;
    const why = seen.has(path) ? "is mounted at already" : refusal(path);
    if (why !== null) problems.push(`${place}.mountPath: ${path} ${why}`);
    seen.add(path);
    return { ...read, mountPath: path };
  });
}

export function variables(value: unknown, at: string, refusal: (name: string) => string | null, problems: string[]): Part[] {
  return each(value, at, problems, (given, place) => {
    const { name } = given;
    if (typeof name !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      problems.push(`${place}.name: must be the name of a variable`);
      return null;
    }
    const why = refusal(name);
    if (why !== null) problems.push(`${place}.name: ${name} ${why}`);
    return { ...shaped(given, place, VARIABLE, problems), name };
  });
}

function each<T>(value: unknown, at: string, problems: string[], read: (item: Record<string, unknown>, at: string) => T | null): T[] {
  if (!Array.isArray(value)) {
    problems.push(`${at}: must be a list, not ${kindOf(value)}`);
    return [];
  }
  return value.flatMap((item: unknown, index) => {
    const place = `${at}[${index}]`;
    if (isRecord(item)) return read(item, place) ?? [];
    problems.push(`${place}: must be an object, not ${kindOf(item)}`);
    return [];
  });
}

function part(given: Record<string, unknown>, at: string, shape: Readonly<Record<string, Kind>>, problems: string[]): Part | null {
  const name = named(given.name, at, problems);
  const read = shaped(given, at, shape, problems);
  return name === null ? null : { ...read, name };
}

function named(name: unknown, at: string, problems: string[]): string | null {
  return attempt(`${at}.name`, problems, (place) => dnsLabel(typeof name === "string" ? name : "", place));
}

function shaped(
  given: Record<string, unknown>,
  at: string,
  shape: Readonly<Record<string, Kind>>,
  problems: string[],
): Record<string, unknown> {
  const known = Object.keys(shape);
  for (const [key, value] of Object.entries(given)) {
    const kind = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (kind !== undefined) {
      if (!IS[kind](value)) problems.push(`${at}.${key}: must be ${WORDS[kind]}, not ${quote(value)}`);
      continue;
    }
    const [near] = similar(key, known, (name) => [name]);
    problems.push(`${at}.${key}: there is no such key; ${near === undefined ? `there are ${known.join(", ")}` : `did you mean ${near}?`}`);
  }
  return given;
}

const isText = (value: unknown): boolean => typeof value === "string";
const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: isText,
  flag: (value) => typeof value === "boolean",
  texts: (value) => Array.isArray(value) && value.every(isText),
  list: Array.isArray,
  object: isRecord,
};
const WORDS: Readonly<Record<Kind, string>> = {
  text: "a text",
  flag: "true or false",
  texts: "a list of texts",
  list: "a list",
  object: "an object",
};
