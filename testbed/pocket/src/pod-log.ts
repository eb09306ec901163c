import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Pod } from "./pod.ts";
import { badRequest } from "./status.ts";
import type { World } from "./world.ts";

export const podDir = (world: Pick<World, "dir">, uid: string): string => join(world.dir, "pods", uid);

export const logPath = (world: Pick<World, "dir">, uid: string, container: string): string =>
  join(podDir(world, uid), "logs", `${container}.log`);

/** Empty when the container has written nothing, or never started. */
export function readLog(world: Pick<World, "dir">, uid: string, container: string): string {
  try {
    return readFileSync(logPath(world, uid, container), "utf8");
  } catch {
    return "";
  }
}

// What `kubectl logs` gets, without following.
export function readPodLog(world: World, pod: Pod, query: URLSearchParams): string {
  const name = query.get("container") ?? pod.spec.containers[0]!.name;
  const known = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].some((container) => container.name === name);
  if (!known) throw badRequest(`container ${name} is not valid for pod ${pod.metadata.name}`);
  const status = [...(pod.status.containerStatuses ?? []), ...(pod.status.initContainerStatuses ?? [])].find((c) => c.name === name);
  const waiting = status?.state.waiting;
  if (waiting) throw badRequest(`container "${name}" in pod "${pod.metadata.name}" is waiting to start: ${waiting.reason}`);
  const text = readLog(world, pod.metadata.uid, name);
  const tail = query.get("tailLines");
  if (tail === null) return text;
  const lines = text.split(/(?<=\n)/);
  return lines.slice(Math.max(0, lines.length - Number(tail))).join("");
}
