import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.ts";

/** What a cluster could leave on a machine, kind by kind, one line each. */
export type MachineState = Readonly<Record<string, readonly string[]>>;

export async function machineState(): Promise<MachineState> {
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  const ip = async (...args: string[]) => lines(await run("ip", ["-o", ...args]));
  return {
    process: processes(),
    mount: lines(readFileSync("/proc/self/mounts", "utf8")).filter((line) => !/ fuse\S* /.test(line)), // a cluster makes none of those
    link: (await ip("link")).map((line) => line.replace(/^\d+: /, "").replace(/ qdisc.*/, "")),
    address: (await ip("addr")).map((line) => line.replace(/^\d+: /, "").replace(/valid_lft.*/, "")),
    route: [...(await ip("route", "show", "table", "all")), ...(await ip("rule"))].map((line) => line.replace(/expires \d+sec/, "")),
    rule: lines(existsSync("/usr/sbin/nft") ? await run("/usr/sbin/nft", ["list", "ruleset"]) : ""),
    "legacy table": existsSync("/proc/net/ip_tables_names") ? lines(readFileSync("/proc/net/ip_tables_names", "utf8")) : [],
    setting: ["ip_forward", "conf/all/forwarding", "conf/all/rp_filter"].map(
      (name) => `${name} ${readFileSync(join("/proc/sys/net/ipv4", name), "utf8").trim()}`,
    ),
    folder: PLACES.flatMap((place) => (existsSync(place) ? readdirSync(place).map((entry) => join(place, entry)) : [])),
    cgroup: existsSync("/sys/fs/cgroup") ? emptyCgroups("/sys/fs/cgroup", 3) : [],
  };
}

/** Where kubelet, containerd, runc, CNI plugins and Debian's scripts put things by default. */
const PLACES = ["/", "/run", "/run/netns", "/etc", "/opt", "/usr/libexec", "/var/lib", "/var/log", "/var/cache", "/var/tmp", "/root"];

/** Of these others make and remove some all the time, so only new ones count. */
const LIVELY = ["process", "folder", "cgroup"];

/** What is there now and was not before, and the other way round. */
export function difference(before: MachineState, after: MachineState): string[] {
  return Object.keys(before).flatMap((kind) => [
    ...without(after[kind]!, before[kind]!).map((line) => `new ${kind}: ${line}`),
    ...(LIVELY.includes(kind) ? [] : without(before[kind]!, after[kind]!).map((line) => `lost ${kind}: ${line}`)),
  ]);
}

const without = (lines: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
};

/** Processes of a cluster: in another network than this one, or with telling names; but not what lives inside another cluster's node. */
function processes(): string[] {
  const own = network("self");
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const telling = /containerd|runc|kube|etcd|keeper|nsenter|unshare|setsid/.test(command.split(" ")[0]!);
        return command !== "" && (telling || network(pid) !== own) && !isHeld(pid) ? [`${pid} ${command}`] : [];
      } catch {
        return []; // it has just ended
      }
    });
}

const network = (pid: string): string => readlinkSync(`/proc/${pid}/ns/net`);

function isHeld(pid: string): boolean {
  const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]!;
  if (parent === "0") return false;
  return /\/bin\/keeper\0/.test(readFileSync(`/proc/${parent}/cmdline`, "utf8")) || isHeld(parent);
}

/** cgroups without a process and without others below: what a killed container leaves. */
function emptyCgroups(folder: string, depth: number): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => {
    const path = join(folder, name);
    try {
      const below = readdirSync(path, { withFileTypes: true }).some((entry) => entry.isDirectory());
      if (below) return depth > 1 ? emptyCgroups(path, depth - 1) : [];
      return readFileSync(join(path, "cgroup.procs"), "utf8") === "" ? [path] : [];
    } catch {
      return []; // it is just going
    }
  });
}
