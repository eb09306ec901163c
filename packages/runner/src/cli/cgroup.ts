// Memory, CPU time and OOM kills of the container's own cgroup; null wherever a figure could be that of another container.
import { existsSync } from "node:fs";
import { readOrNull } from "../files.ts";

export interface CgroupFigures {
  readonly peakMemoryBytes: number | null;
  /** null also where there is no limit. */
  readonly memoryLimitBytes: number | null;
  readonly cpuMs: number | null;
  readonly oomKills: number | null;
}

export interface CgroupFolders {
  readonly memory: string | null;
  readonly cpu: string | null;
  readonly version: 1 | 2;
}

/** Version 1 has no word for "none": it gives the largest multiple of a page. */
const NO_LIMIT_V1 = 2 ** 62;
export const NO_CGROUP: CgroupFolders = { memory: null, cpu: null, version: 2 };

export function findCgroup(root = ""): CgroupFolders {
  const mounts = readOrNull(`${root}/proc/self/mountinfo`);
  const paths = readOrNull(`${root}/proc/self/cgroup`);
  if (mounts === null || paths === null) return NO_CGROUP;
  const own = (controller: string): string | null => {
    const mount = cgroupMount(mounts, controller);
    const path = cgroupPath(paths, controller);
    // Mounted at its own top: the container's view. On a bare host the mount begins above the process's cgroup.
    return mount && mount.top === path && isNotHostRoot(root + mount.at, controller) ? root + mount.at : null;
  };
  const unified = own("");
  if (unified && existsSync(`${unified}/memory.events`)) return { memory: unified, cpu: unified, version: 2 };
  return { memory: own("memory"), cpu: own("cpuacct"), version: 1 };
}

export function readCgroup(folders: CgroupFolders): CgroupFigures {
  const memory = (file: string): string | null => (folders.memory ? readOrNull(`${folders.memory}/${file}`) : null);
  const cpu = (file: string): string | null => (folders.cpu ? readOrNull(`${folders.cpu}/${file}`) : null);
  if (folders.version === 2) {
    const micros = field(cpu("cpu.stat"), "usage_usec");
    return {
      peakMemoryBytes: whole(memory("memory.peak")),
      // Without a limit the file holds `max`, which is no number.
      memoryLimitBytes: whole(memory("memory.max")),
      cpuMs: micros === null ? null : Math.round(micros / 1e3),
      oomKills: field(memory("memory.events"), "oom_kill"),
    };
  }
  const limit = whole(memory("memory.limit_in_bytes"));
  const nanos = whole(cpu("cpuacct.usage"));
  return {
    peakMemoryBytes: whole(memory("memory.max_usage_in_bytes")),
    memoryLimitBytes: limit !== null && limit < NO_LIMIT_V1 ? limit : null,
    cpuMs: nanos === null ? null : Math.round(nanos / 1e6),
    oomKills: field(memory("memory.oom_control"), "oom_kill"),
  };
}

/** CPU time and OOM kills are counted from the runner's start; the peak cannot be. */
export function figuresSince(start: CgroupFigures, now: CgroupFigures): CgroupFigures {
  const since = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : b - a);
  return { ...now, cpuMs: since(start.cpuMs, now.cpuMs), oomKills: since(start.oomKills, now.oomKills) };
}

/** Version 1 has `release_agent` in its root only, version 2 has `cgroup.type` everywhere but in its root. */
const isNotHostRoot = (folder: string, controller: string): boolean =>
  controller === "" ? existsSync(`${folder}/cgroup.type`) : !existsSync(`${folder}/release_agent`);

function cgroupMount(mountinfo: string, controller: string): { top: string; at: string } | null {
  for (const line of mountinfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const [type, , options = ""] = right.split(" ");
    const [, , , top = "", at = ""] = left.split(" ");
    if (controller === "" ? type === "cgroup2" : type === "cgroup" && options.split(",").includes(controller)) return { top, at };
  }
  return null;
}

function cgroupPath(cgroups: string, controller: string): string | null {
  for (const line of cgroups.split("\n")) {
    const [, names = "", ...path] = line.split(":");
    if (path.length > 0 && names.split(",").includes(controller)) return path.join(":");
  }
  return null;
}

function whole(text: string | null): number | null {
  return text !== null && /^\d+\s*$/.test(text) ? Number(text) : null;
}

function field(text: string | null, name: string): number | null {
  const value = text?.match(new RegExp(`^${name} (\\d+)$`, "m"))?.[1];
  return value === undefined ? null : Number(value);
}
