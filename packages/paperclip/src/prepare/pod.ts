import { type RunRequest, withoutTrailing } from "@paperclip-k8s/engine";
import { amountOf } from "../settings/kinds/scalar.ts";
import type { RunInputs } from "./attempt.ts";
import { HOME_MOUNT, TMP_MOUNT } from "./environment/mounts.ts";
import { chosenTemplate } from "./pod-template.ts";

/** For Karpenter and for the Cluster Autoscaler: a consolidation must not end an hour's work. */
const UNDISRUPTED = { "karpenter.sh/do-not-disrupt": "true", "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" } as const;

/** What the operator forces on every pod, as far as the CLI can live with it; else what the template or the agent says. */
export function podRules({ cli, config, policy }: RunInputs): NonNullable<RunRequest["pod"]> {
  const { force } = policy;
  const template = chosenTemplate(config, policy);
  const { hostUsers } = force;
  const priorityClassName = force.priorityClassName ?? template.priorityClassName;
  const annotations = { ...(force.doNotDisrupt ? UNDISRUPTED : {}), ...template.annotations, ...force.annotations };
  const readOnlyRootFilesystem = force.readOnlyRootFilesystem && cli.needsWritableRoot !== true;
  const runtimeClassName = force.runtimeClassName ?? template.runtimeClassName ?? config.runtimeClassName;
  return { runtimeClassName, hostUsers, priorityClassName, readOnlyRootFilesystem, annotations };
}

/** Without a request Kubernetes would use the limit as one. Zero, because nodes that do not report their disk (some small clusters) refuse pods that ask for any. */
const DISK_REQUEST = "0";

/** The agent's CPU and memory, and a limit for everything that its pod keeps on the node's disk. */
export function podResources({ config: { resources }, policy: { limits } }: RunInputs): RunRequest["resources"] {
  const disk = limits.ephemeralStorage;
  return {
    requests: { ...resources.requests, "ephemeral-storage": DISK_REQUEST },
    limits: { ...resources.limits, "ephemeral-storage": disk },
  };
}

/** The size of the home, and that of the temporary folder. */
const SCRATCH_SIZE = "10Gi";
/** Programs that do not ask the environment for their temporary folder write here. */
const USUAL_TMP = "/tmp";

/** Private folders of the pod. None may hold more than the pod may have on the node's disk. */
export function scratchVolumes({ inherited, policy: { limits } }: RunInputs): RunRequest["volumes"]["scratch"] {
  const sizeLimit = smaller(SCRATCH_SIZE, limits.ephemeralStorage);
  const taken = [inherited.claim, ...inherited.secretVolumes, ...inherited.configMapVolumes].map(({ mountPath }) => mountPath);
  const isFree = !taken.some((path) => withoutTrailing(path, "/") === USUAL_TMP);
  return [
    { name: "agent-home", mountPath: HOME_MOUNT, sizeLimit },
    { name: "agent-tmp", mountPath: TMP_MOUNT, ...(isFree ? { alsoAt: [USUAL_TMP] } : {}), sizeLimit },
  ];
}

const smaller = (one: string, other: string): string => (amountOf(one) <= amountOf(other) ? one : other);

/** The server's own user, so that both sides may write the same files; root becomes the images' usual user. */
export function serverUser(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 1000;
  return uid === 0 ? { uid: 1000, gid: 1000 } : { uid, gid: process.getgid?.() ?? uid };
}

/** To whom files on the volume are given that a pod has to write; null = they are its user's anyway. */
export const podOwner = (): ReturnType<typeof serverUser> | null => (process.getuid?.() === 0 ? serverUser() : null);
