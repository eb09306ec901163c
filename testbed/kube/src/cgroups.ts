import { existsSync } from "node:fs";
import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";

const TOP = "/sys/fs/cgroup";
const PARENT = "k8s.io";

/** Containers that containerd had started, by the folders of its state. */
export async function containersIn(dir: string): Promise<string[]> {
  return await readdir(join(dir, "containerd/state/io.containerd.runtime.v2.task/k8s.io")).catch(() => []);
}

/** The cgroups of killed containers stay behind, in each hierarchy of version 1 and in the one of version 2. */
export async function removeCgroups(containers: readonly string[]): Promise<void> {
  const hierarchies = [TOP, ...(await readdir(TOP)).map((name) => join(TOP, name))].map((path) => join(path, PARENT)).filter(existsSync);
  for (const hierarchy of hierarchies) {
    for (const id of containers) await removeTree(join(hierarchy, id));
    await rmdir(hierarchy).catch(() => {}); // another cluster's containers may be in it
  }
}

async function removeTree(path: string): Promise<void> {
  if (!existsSync(path)) return;
  for (const entry of await readdir(path, { withFileTypes: true })) if (entry.isDirectory()) await removeTree(join(path, entry.name));
  await rmdir(path);
}
