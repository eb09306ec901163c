import { createModelDiscovery } from "@paperclip-k8s/paperclip";
import { type Model, models } from "./models.ts";

const PATIENCE_MS = 20_000;
const MAX_OUTPUT = 4 * 1024 * 1024;

/** The static models, then those that the CLI on this server reports, where there is one. */
export function createListModels(command = "opencode", now: () => number = Date.now): () => Promise<Model[]> {
  const report = async () => parseModels(await runModels(command)).map((id) => ({ id, label: id }));
  return createModelDiscovery(() => models, report, now);
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
