import type { OwnClaim, OwnPod } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { clusterFields } from "../../settings/fields/cluster.ts";
import { settingName } from "../../settings/setting-name.ts";
import type { Findings, InheritedClaim, InheritSettings } from "./inherited.ts";
import { type Mount, mountAt, mountsOf, nameOf } from "./mounts.ts";
import type { RunObjects } from "./run-objects.ts";

/** The claim behind the data path, at the server's own mount path; refused when a run could not share files with the server. */
export function inheritClaim(
  pod: OwnPod,
  settings: InheritSettings,
  serverEnv: NodeJS.ProcessEnv,
  objects: RunObjects,
  findings: Findings,
): InheritedClaim {
  const namespace = settings.namespace ?? pod.namespace;
  const mounts = mountsOf(pod);
  const mount = mountAt(mounts, settings.dataPath);
  const own = mount?.kind === "claim" ? mount.claim : null;
  const parts = mounts.filter((each): each is ClaimMount => each !== mount && isPartOf(settings, each));
  if (settings.dataClaim === null) {
    if (own === null) throw new ConfigError("dataClaim", noClaim(pod, settings, mount));
    if (!objects.take("claim", own.claimName))
      throw new ConfigError("dataClaim", objects.reach === "none" ? notMeant(pod, own, namespace) : missing(own, namespace));
    if (own.readOnly) throw new ConfigError("dataClaim", readOnly(pod, own));
  } else if (parts.length > 0) {
    const root = own?.mountPath ?? settings.dataPath;
    findings.warnings.push(...parts.flatMap((part) => misplaced(part, root, serverEnv)));
    return { name: settings.dataClaim, mountPath: root, subPath: null };
  } else if (own !== null && own.claimName !== settings.dataClaim && namespace === pod.namespace) {
    findings.warnings.push(
      `${settingName(clusterFields.dataClaim)}: ${settings.dataClaim} is not the claim the server has at ${own.mountPath} (${own.claimName}): both must hold the same files`,
    );
  }
  for (const below of mounts.filter((each) => hides(each, mount, settings.dataPath))) {
    findings.warnings.push(`${nameOf(below)} at ${below.mountPath} hides a part of the data path from runs, which do not have it`);
  }
  return {
    name: settings.dataClaim ?? own!.claimName,
    mountPath: own?.mountPath ?? settings.dataPath,
    subPath: own === null ? null : subPathOf(own, serverEnv),
  };
}

type ClaimMount = Extract<Mount, { readonly claim: OwnClaim }>;

/** Two volumes: the server has its own at the data path, and folders of the shared one below it. */
const isPartOf = ({ dataClaim, dataPath }: InheritSettings, each: Mount): each is ClaimMount =>
  each.kind === "claim" && each.claim.claimName === dataClaim && isBelow(each.mountPath, dataPath);

/** Runs mount folders of the claim by their path below the data path. */
function misplaced({ claim }: ClaimMount, root: string, serverEnv: NodeJS.ProcessEnv): string[] {
  const wanted = claim.mountPath.slice(root.length + 1);
  if (subPathOf(claim, serverEnv) === wanted) return [];
  return [
    `claim ${claim.claimName} is mounted at ${claim.mountPath}, where runs have its folder ${wanted}: mount it with subPath ${wanted}`,
  ];
}

/** Secrets and ConfigMaps below the data path do no harm: their files are not shared with runs. */
function hides(each: Mount, data: Mount | null, dataPath: string): boolean {
  return each !== data && (each.kind === "claim" || each.kind === "other") && isBelow(each.mountPath, dataPath);
}

/** `$(NAME)` in a mount's path is one of the container's variables, which this process has; `$$` is a dollar. */
function subPathOf({ claimName, subPath, subPathExpr }: OwnClaim, serverEnv: NodeJS.ProcessEnv): string | null {
  if (subPathExpr === null) return subPath;
  return subPathExpr.replace(/\$\$|\$\(([^)]*)\)/g, (_, name?: string) => {
    if (name === undefined) return "$";
    const value = serverEnv[name];
    if (value !== undefined) return value;
    throw new ConfigError("dataPath", `the server mounts claim ${claimName} at subPathExpr ${subPathExpr}, and ${name} is not known`);
  });
}

function noClaim({ namespace, podName }: OwnPod, { dataPath }: InheritSettings, mount: Mount | null): string {
  const found = mount === null ? "nothing is mounted there" : `${nameOf(mount)} is, at ${mount.mountPath}`;
  return (
    `the server's pod ${namespace}/${podName} has no PersistentVolumeClaim at its data path ${dataPath} (${found}). ` +
    "Runs share files with the server through it: mount a ReadWriteMany claim there, set Data path to where one is mounted, or name a claim in Data claim"
  );
}

const missing = ({ claimName, mountPath }: OwnClaim, namespace: string): string =>
  `namespace ${namespace} has no claim ${claimName}. Make one there that holds the same files as ${claimName}, which the server mounts at ${mountPath}, ` +
  "or name another claim of that namespace in Data claim, or leave Namespace empty";

const notMeant = (pod: OwnPod, own: OwnClaim, namespace: string): string =>
  `namespace ${namespace} has none of the claims of the server's namespace ${pod.namespace}. Name a claim of ${namespace} ` +
  `that holds the same files as ${own.claimName}, which the server mounts at ${own.mountPath}; if one has the same name, ` +
  `list ${JSON.stringify(namespace)} in allow.sameNames of the operator's policy; or leave Namespace empty`;

const readOnly = ({ namespace, podName }: OwnPod, { claimName, mountPath }: OwnClaim): string =>
  `claim ${claimName} is mounted read-only at ${mountPath} in the server's pod ${namespace}/${podName}. ` +
  "Server and runs must be able to write there: mount it writable";
