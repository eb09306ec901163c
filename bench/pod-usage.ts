import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@paperclip-k8s/pocket";
import { markedProcesses, podMarker } from "../testbed/pocket/src/processes.ts";
import type { Bed } from "../testbed/suite/src/bed.ts";
import { usageOf } from "./processes.ts";

/** What a pod has used so far. */
export interface PodUsage {
  readonly cpuMs: number;
  readonly peakBytes: number;
}

interface PodStatus {
  readonly containerStatuses?: readonly { readonly containerID?: string }[];
}

const CGROUPS = "/sys/fs/cgroup";
/** Where containerd puts a container, in the hierarchies of either version. */
const PARENT = "k8s.io";

/** Of the pod that a Job has made: by its cgroup on the node, which is this machine, or by its processes on the embedded cluster. */
export async function podUsage(bed: Bed, job: (pod: KubeObject) => boolean): Promise<PodUsage> {
  const pod = (await bed.list("pods")).find(job);
  if (pod === undefined) throw new Error("the pod to measure is not there");
  if (bed.pocket !== null) return usageOf(markedProcesses(podMarker, pod.metadata.uid));
  const id = (pod.status as PodStatus).containerStatuses?.[0]?.containerID?.replace(/^.*\/\//, "");
  if (id === undefined) throw new Error(`pod ${pod.metadata.name} has no container yet`);
  return cgroupUsage(id);
}

function cgroupUsage(container: string): PodUsage {
  const one = join(CGROUPS, PARENT, container);
  if (existsSync(one)) {
    const usec = /^usage_usec (\d+)/m.exec(readFileSync(join(one, "cpu.stat"), "utf8"))?.[1];
    return { cpuMs: Number(usec) / 1e3, peakBytes: numberIn(join(one, "memory.peak")) };
  }
  return {
    cpuMs: numberIn(join(CGROUPS, "cpuacct", PARENT, container, "cpuacct.usage")) / 1e6,
    peakBytes: numberIn(join(CGROUPS, "memory", PARENT, container, "memory.max_usage_in_bytes")),
  };
}

const numberIn = (file: string): number => Number(readFileSync(file, "utf8"));
