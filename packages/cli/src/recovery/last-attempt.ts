import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type FoundEnd, PathPartError, readEnd } from "@paperclip-k8s/engine";
import { agentFolder, parseOutputFile } from "@paperclip-k8s/paperclip/paths";
import type { Place } from "../arguments.ts";
import type { HeldIssue } from "./held-issues.ts";

/** The end record that a run's files still hold when its Job is gone; null = none can be seen from here. */
export async function readLastEnd(
  { companyId, run }: HeldIssue,
  place: Place & { readonly secret: Uint8Array | null },
): Promise<FoundEnd | null> {
  const { data, instance, secret } = place;
  if (data === null || run.agentId === null) return null;
  const folder = folderOf({ id: run.agentId, companyId, name: "" }, data, instance);
  if (folder === null) return null;
  const names = await readdir(folder).catch(() => []);
  const files = names.flatMap((name) => parseOutputFile(name) ?? []).filter(({ runId }) => runId === run.id);
  // Only the last attempt shows how the run ended.
  const last = files.toSorted((a, b) => b.attempt - a.attempt)[0];
  return last === undefined ? null : readEnd(join(folder, last.output), { run: run.id, nonce: null, secret });
}

/** Null = an id that cannot be part of a path. */
function folderOf(agent: Parameters<typeof agentFolder>[0]["agent"], data: string, instance: string): string | null {
  try {
    return agentFolder({ agent }, { dataPath: data, instanceId: instance }, "run-logs");
  } catch (error) {
    if (error instanceof PathPartError) return null;
    throw error;
  }
}
