import type { PodWorker } from "./pod-worker.ts";
import { markedProcesses, podMarker, residentPages, signalProcess } from "./processes.ts";

export type OomVictim = "all" | "main" | "child";

// The runtime reports OOMKilled for the container whenever the kernel killed one of its processes, whatever its exit code.
export function killOutOfMemory(worker: PodWorker | undefined, victim: OomVictim): void {
  const main = worker?.running?.pid;
  if (!worker || main === undefined) throw new Error("pocket: no process of this pod runs");
  const children = markedProcesses(podMarker, worker.pod.metadata.uid).filter((pid) => pid !== main);
  if (victim === "child" && children.length === 0) throw new Error("pocket: the main process of this pod has no child");
  worker.oomKilled = true;
  if (victim === "all") worker.kill();
  else signalProcess(victim === "main" ? main : largest(children), "SIGKILL");
}

// The kernel takes the process with the most memory.
const largest = (pids: readonly number[]): number => pids.reduce((a, b) => (residentPages(b) > residentPages(a) ? b : a));
