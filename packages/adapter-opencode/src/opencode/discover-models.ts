import type { Model } from "./models.ts";

const CACHE_MS = 60_000;
const PATIENCE_MS = 20_000;
const MAX_OUTPUT = 4 * 1024 * 1024;

/** The models the CLI on this server reports, behind the static ones; where there is no CLI, only those. Asked at most once a minute. */
export function createModelDiscovery(known: readonly Model[], command = "opencode", now: () => number = Date.now): () => Promise<Model[]> {
  let asked: { readonly at: number; readonly models: Promise<Model[]> } | null = null;
  return () => {
    if (asked === null || now() - asked.at >= CACHE_MS) asked = { at: now(), models: discover(known, command) };
    return asked.models;
  };
}

async function discover(known: readonly Model[], command: string): Promise<Model[]> {
  const ids = new Set(known.map((model) => model.id));
  const reported = parseModels(await runModels(command)).filter((id) => !ids.has(id));
  return [...known, ...reported.map((id) => ({ id, label: id }))];
}

/** One `provider/model` per line; anything else is chatter. */
export function parseModels(output: string): string[] {
  const ids = output.split("\n").map((line) => line.trim());
  return [...new Set(ids.filter((id) => /^[\w.-]+\/[\w./:@-]+$/.test(id)))];
}

async function runModels(command: string): Promise<string> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve) => {
    // A CLI that is not there, fails or hangs leaves the static list.
    const options = { timeout: PATIENCE_MS, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT } as const;
    const child = execFile(command, ["models"], options, (error, stdout) => resolve(error === null ? stdout : ""));
    child.stdin?.end();
  });
}
