import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type FoundEnd, PathPartError, readEnd } from "@paperclip-k8s/engine";
import { agentFolder, type OutputFile, parseOutputFile } from "@paperclip-k8s/paperclip/paths";
import type { Place } from "../arguments/values.ts";
import type { HeldIssue } from "./find/held-issues.ts";

/** Files of an agent's runs, as far as they can be seen from here. */
export interface KeptFiles {
  readonly folder: string;
  readonly files: readonly OutputFile[];
}

/** Null = they cannot be seen from here. */
export async function keptFiles(
  agent: { readonly id: string; readonly companyId: string },
  { data, instance }: Place,
): Promise<KeptFiles | null> {
  const folder = data === null ? null : folderOf({ ...agent, name: "" }, data, instance);
  if (folder === null) return null;
  const names = await readdir(folder).catch(() => []);
  return { folder, files: names.flatMap((name) => parseOutputFile(name) ?? []) };
}

/** The end record that a run's files still hold when its Job is gone; null = none can be seen from here. */
export async function readLastEnd(
  { companyId, run }: Pick<HeldIssue, "companyId" | "run">,
  place: Place & { readonly secret: Uint8Array | null },
): Promise<FoundEnd | null> {
  const kept = run.agentId === null ? null : await keptFiles({ id: run.agentId, companyId }, place);
  // Only the last attempt shows how the run ended.
  const last = kept?.files.filter(({ runId }) => runId === run.id).toSorted((a, b) => b.attempt - a.attempt)[0];
  if (kept == null || last === undefined) return null;
  return readEnd(join(kept.folder, last.output), { run: run.id, nonce: null, secret: place.secret });
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
