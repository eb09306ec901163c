import type { EnvReference, EnvSource, ObjectVolume, ObjectVolumeItem } from "../../request.ts";
import { withoutTrailing } from "../../without-trailing.ts";
import { list, object, type Raw, text, textOrNull } from "../views.ts";

/** The pod of this process: the parts that the pods of runs may inherit. */
export type OwnPod = Readonly<ReturnType<typeof podOf>>;

/** A literal as it stands in the spec, not yet expanded, or a reference. */
export type OwnEnv = { readonly name: string; readonly value: string } | EnvReference;

export type OwnClaim = Readonly<ReturnType<typeof claimOf>>;

const objectOrNull = (value: unknown): Raw | null => (Object.keys(object(value)).length === 0 ? null : object(value));
const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The pod, or the names of its containers when it is not clear which of them is this process's. */
export function projectOwnPod(
  raw: unknown,
  candidates: readonly string[],
): { readonly pod: OwnPod } | { readonly containers: readonly string[] } {
  const containers = list(object(object(raw).spec).containers);
  const container = pick(containers, candidates);
  return container === null ? { containers: containers.map(({ name }) => text(name)) } : { pod: podOf(object(raw), container) };
}

function podOf({ metadata, spec: rawSpec }: Raw, container: Raw) {
  const spec = object(rawSpec);
  return {
    namespace: text(object(metadata).namespace),
    podName: text(object(metadata).name),
    /** Name of this process's container; image, env and mounts are its own. */
    container: text(container.name),
    image: text(container.image),
    /** In the spec's order: `$(NAME)` in a literal refers to an earlier one. */
    env: list(container.env).map(envOf),
    envFrom: list(container.envFrom).flatMap(envSourceOf),
    ...mountsOf(container, list(spec.volumes)),
    imagePullSecrets: list(spec.imagePullSecrets).flatMap(({ name }) => textOrNull(name) ?? []),
    dnsPolicy: textOrNull(spec.dnsPolicy),
    dnsConfig: objectOrNull(spec.dnsConfig),
    nodeSelector: object(spec.nodeSelector) as Record<string, string>,
    /** Without the two that every pod gets by default. */
    tolerations: list(spec.tolerations).filter((toleration) => !isAutomatic(toleration)),
  };
}

/** By name, in the order of the candidates; a pod's only container needs no name. The order of containers means nothing: sidecars may come first or last. */
function pick(containers: readonly Raw[], candidates: readonly string[]): Raw | null {
  for (const candidate of candidates) {
    const found = containers.find(({ name }) => name === candidate);
    if (found) return found;
  }
  return containers.length === 1 ? containers[0]! : null;
}

function envOf({ name, value, valueFrom }: Raw): OwnEnv {
  const reference = objectOrNull(valueFrom);
  return reference === null ? { name: text(name), value: text(value) } : { name: text(name), valueFrom: reference };
}

function envSourceOf(source: Raw): EnvSource[] {
  const kind = objectOrNull(source.secretRef) === null ? "configMap" : "secret";
  const { name, optional } = object(kind === "secret" ? source.secretRef : source.configMapRef);
  return text(name) === "" ? [] : [{ kind, name: text(name), prefix: text(source.prefix), optional: optional === true }];
}

function mountsOf(container: Raw, volumes: readonly Raw[]) {
  const claims: OwnClaim[] = [];
  const secretVolumes: ObjectVolume[] = [];
  const configMapVolumes: ObjectVolume[] = [];
  /** Mounts of any other kind: emptyDir, projected, hostPath. */
  const otherMounts: { kind: string; mountPath: string }[] = [];
  for (const mount of list(container.volumeMounts)) {
    const volume = volumes.find(({ name }) => name === mount.name) ?? {};
    if (volume.persistentVolumeClaim) claims.push(claimOf(mount, object(volume.persistentVolumeClaim)));
    // Which keys lie at a path made of variables is not known here.
    else if (mount.subPathExpr) otherMounts.push({ kind: kindOf(volume), mountPath: pathOf(mount) });
    else if (volume.secret) secretVolumes.push(objectVolumeOf(mount, object(volume.secret), "secretName"));
    else if (volume.configMap) configMapVolumes.push(objectVolumeOf(mount, object(volume.configMap), "name"));
    else otherMounts.push({ kind: kindOf(volume), mountPath: pathOf(mount) });
  }
  return { claims, secretVolumes, configMapVolumes, otherMounts };
}

const kindOf = (volume: Raw): string => Object.keys(volume).find((field) => field !== "name") ?? "unknown";
const pathOf = (mount: Raw): string => withoutTrailing(text(mount.mountPath), "/", 1);

function claimOf(mount: Raw, claim: Raw) {
  return {
    claimName: text(claim.claimName),
    mountPath: pathOf(mount),
    subPath: textOrNull(mount.subPath),
    /** As the spec says, not yet expanded: `$(POD_NAME)`. */
    subPathExpr: textOrNull(mount.subPathExpr),
    readOnly: mount.readOnly === true || claim.readOnly === true,
  };
}

function objectVolumeOf(mount: Raw, source: Raw, nameField: "secretName" | "name"): ObjectVolume {
  return {
    name: text(source[nameField]),
    mountPath: pathOf(mount),
    subPath: textOrNull(mount.subPath),
    items: source.items === undefined ? null : list(source.items).map(itemOf),
    defaultMode: numberOrNull(source.defaultMode),
    ...(source.optional === true ? { optional: true } : {}),
  };
}

function itemOf({ key, path, mode }: Raw): ObjectVolumeItem {
  return { key: text(key), path: text(path), ...(typeof mode === "number" ? { mode } : {}) };
}

/** Only exactly what admission adds: a toleration with other times was set on purpose. */
function isAutomatic({ key, operator, effect, tolerationSeconds }: Raw): boolean {
  const automatic = key === "node.kubernetes.io/not-ready" || key === "node.kubernetes.io/unreachable";
  return automatic && operator === "Exists" && effect === "NoExecute" && tolerationSeconds === 300;
}
