import { messageOf } from "@paperclip-k8s/engine";
import type { Command } from "../arguments/command.ts";
import { clusterOf, namespacesOf, secretOf } from "../cluster/access.ts";
import { findInCluster } from "../leftovers/find-in-cluster.ts";
import { decideVolume, lookAtVolume } from "../leftovers/find-on-volume.ts";
import { type Item, isRemovable, itemLines, totals } from "../leftovers/item.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

/** Looks at files before the cluster, so that files that a run makes before its Job are not taken for leftovers. */
export async function sweep(command: Extract<Command, { name: "sweep" }>, terminal: Terminal): Promise<ExitCode> {
  const { out, env } = terminal;
  const now = terminal.now();
  const cluster = clusterOf(command.cluster, env);
  const namespaces = await namespacesOf(command.cluster, cluster, env);
  const secret = await secretOf(env, command);
  const volume = await lookAtVolume(command, secret, now);
  const found = await findInCluster({ cluster, secret }, namespaces, { olderThanSec: command.olderThanSec, now });
  const jobs = found.jobs.map(({ job }) => job);
  const items = [...found.items, ...(await decideVolume(cluster, jobs, volume, { olderThanSec: command.filesOlderThanSec, now }))];
  for (const line of itemLines(items, now)) out(line);
  for (const line of [...found.unseen, ...(volume.unseen === null ? [] : [volume.unseen])]) out(line);
  const going = items.filter(isRemovable);
  if (going.length === 0) {
    out(`nothing to remove in ${namespaces.join(", ")}${items.length === 0 ? "" : `, ${items.length} left alone`}`);
    return EXIT.done;
  }
  if (!command.delete) {
    out(`${totals(items)}; --delete removes them`);
    return EXIT.done;
  }
  return removeAll(going, terminal);
}

const RESULTS = {
  deleted: "deleted",
  gone: "gone already",
  replaced: "another has its name now",
  changed: "kept: it has changed meanwhile",
} as const;

async function removeAll(items: readonly Item[], { out, err }: Terminal): Promise<ExitCode> {
  let failed = 0;
  for (const item of items) {
    try {
      out(`${item.kind} ${item.name}: ${RESULTS[await item.remove()]}`);
    } catch (error) {
      failed++;
      err(`${item.kind} ${item.name}: ${messageOf(error)}`);
    }
  }
  return failed === 0 ? EXIT.done : EXIT.error;
}
