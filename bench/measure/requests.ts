import type { AuditEntry } from "@paperclip-k8s/pocket";

/** Lists and watches of Jobs and Pods serve all runs, and so does the question to a quiet server whether it still answers. The rest is each run's own, its events too: they are listed by its pod. */
export function requestsOf(
  entries: readonly AuditEntry[],
  runs: number,
): { own: string; shared: string; perRun: number; eventLists: number; all: number } {
  const isShared = ({ watch, verb, resource }: AuditEntry): boolean =>
    resource === "version" || (resource !== "events" && (watch || verb === "list" || verb === "watch"));
  const own = entries.filter((entry) => !isShared(entry));
  const eventLists = own.filter(({ resource }) => resource === "events").length / runs;
  return { eventLists, own: tally(own), shared: tally(entries.filter(isShared)), perRun: own.length / runs, all: entries.length };
}

function tally(entries: readonly AuditEntry[]): string {
  const counts = new Map<string, number>();
  for (const { watch, verb, resource } of entries) {
    const kind = `${watch ? "watch" : verb} ${resource}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const parts = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${count} ${kind}`);
  return parts.length === 0 ? "none" : parts.join(", ");
}
