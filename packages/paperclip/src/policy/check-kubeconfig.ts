import { isBelow } from "../host/context-values.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { homeOf } from "./load-policy.ts";
import { allowsPath } from "./patterns.ts";
import type { Policy } from "./policy.ts";
import { realMount, realPath } from "./policy-file.ts";
import type { Refusals } from "./refusal.ts";

/** A kubeconfig can name a program that the server starts: it is the operator's, and lies where no agent can write. */
export async function checkKubeconfig(
  { kubeconfig, dataPath }: Pick<AgentConfig, "kubeconfig" | "dataPath">,
  { allow, defaults }: Policy,
  env: NodeJS.ProcessEnv,
  refusals: Refusals,
): Promise<void> {
  if (kubeconfig === null) return;
  const mounts = [dataPath, homeOf(env)];
  const shared = [...mounts, ...(await Promise.all(mounts.map(realMount)))];
  const isShared = (path: string): boolean => shared.some((mount) => isBelow(path, mount));
  const own = [defaults.kubeconfig, ...(env.KUBECONFIG ?? "").split(":")];
  if (isShared(kubeconfig)) refusals.never("kubeconfig", agentsWrite(kubeconfig));
  else if (!own.includes(kubeconfig) && !allowsPath(allow.kubeconfigs, kubeconfig))
    refusals.notListed("kubeconfig", "kubeconfigs", kubeconfig);
  else {
    const place = await realPath(kubeconfig);
    if (isShared(place)) refusals.never("kubeconfig", agentsWrite(place));
  }
}

const agentsWrite = (path: string): string =>
  `${path} lies on the volume that agents can write, which no policy can allow. Put it elsewhere, for example into a Secret that the server mounts`;
