import { type LockFinding, tryLocks } from "@paperclip-k8s/engine";
import { instanceFolder, SERVERS_OWN } from "../host/paths.ts";
import type { EnvironmentCheck } from "../host/types.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { check } from "./check.ts";

/** Whether SQLite can lock files in the instance's folder, where later releases of the host do so. */
export async function checkLocks({ dataPath, instanceId }: Place, serverEnv: NodeJS.ProcessEnv): Promise<EnvironmentCheck> {
  const home = serverEnv.PAPERCLIP_HOME || dataPath;
  const folder = instanceFolder(home, instanceId);
  return lockCheck(folder, await tryLocks(home, `${folder}/${SERVERS_OWN}`));
}

type Place = Pick<AgentConfig, "dataPath" | "instanceId">;

export function lockCheck(folder: string, { kind, reason }: LockFinding): EnvironmentCheck {
  if (kind === "work") return check("info", "instance_locks_work", `SQLite can lock files in ${folder}`);
  if (kind === "unknown")
    return check("info", "instance_locks_unknown", `Whether SQLite can lock files in ${folder} is not known: ${reason}`);
  return check("warn", "instance_locks_broken", `SQLite cannot lock files in ${folder}: ${reason}`);
}
