import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { containersIn, removeCgroups } from "./cgroups.ts";
import { checkRoot } from "./check-machine.ts";
import { removeLink } from "./network.ts";
import { endNode } from "./node-namespaces.ts";
import type { Settings } from "./settings.ts";

/** Whatever is there of the cluster goes, whether it runs, is half made or has crashed. */
export async function down(settings: Settings): Promise<void> {
  checkRoot();
  const containers = await containersIn(settings.dir);
  await endNode(settings.dir);
  await removeLink(settings.link);
  await removeCgroups(containers);
  await rm(settings.dir, { recursive: true, force: true });
}

/** What `up` keeps between clusters; by name, since the folder may be one that others use too. */
export async function purge({ cache }: Settings): Promise<void> {
  for (const entry of await readdir(cache).catch(() => [])) {
    if (/^(kubenode|pause|images|layer|containerd)(-|$)/.test(entry)) await rm(join(cache, entry), { recursive: true, force: true });
  }
  for (const folder of [cache, dirname(cache)]) await rmdir(folder).catch(() => {}); // only when empty
}
