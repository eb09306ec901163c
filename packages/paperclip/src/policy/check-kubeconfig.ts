import { mountPointOf, ownPodIdentity } from "@paperclip-k8s/engine";
import { isBelow } from "../host/context-values.ts";
import { homeOf } from "../host/paths.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { allowsPath } from "./patterns.ts";
import type { Policy } from "./policy.ts";
import { realMount, realPath, steadyPath } from "./policy-file.ts";
import type { Refusals } from "./refusal.ts";

/**
 * A kubeconfig can name a program that the server starts: it is the operator's, and lies where no agent can write. Returns the path by
 * which it is opened; null = there is none, or it was refused.
 */
export async function checkKubeconfig(
  { kubeconfig, dataPath }: Pick<AgentConfig, "kubeconfig" | "dataPath">,
  { allow, defaults }: Policy,
  env: NodeJS.ProcessEnv,
  refusals: Refusals,
): Promise<string | null> {
  if (kubeconfig === null) return null;
  const isShared = await agentsFolders([dataPath, defaults.dataPath ?? dataPath, homeOf(env)], env);
  const own = [defaults.kubeconfig, ...(env.KUBECONFIG ?? "").split(":")];
  if (isShared(kubeconfig)) refusals.never("kubeconfig", agentsWrite(kubeconfig));
  else if (!own.includes(kubeconfig) && !allowsPath(allow.kubeconfigs, kubeconfig))
    refusals.notListed("kubeconfig", "kubeconfigs", kubeconfig);
  else {
    const place = await realPath(kubeconfig);
    if (place === null) refusals.never("kubeconfig", `${kubeconfig} is not there, or the server may not read it`);
    else if (isShared(place)) refusals.never("kubeconfig", agentsWrite(place));
    else return steadyPath(kubeconfig);
  }
  return null;
}

/** Whether agents can write to a path: on the volume of these folders, in a pod wherever its claim is mounted. */
async function agentsFolders(paths: readonly string[], env: NodeJS.ProcessEnv): Promise<(path: string) => boolean> {
  const real = await Promise.all(paths.map((path) => realMount(path)));
  const isPod = (await ownPodIdentity(env)) !== null;
  const claims = isPod ? real.map((path) => mountPointOf(path)).filter((mount) => mount !== "/") : [];
  const folders = [...paths, ...real, ...claims];
  return (path) => folders.some((folder) => isBelow(path, folder));
}

const agentsWrite = (path: string): string =>
  `${path} lies on the volume that agents can write, which no policy can allow. Put it elsewhere, for example into a Secret that the server mounts`;
