import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { allowedEnv, createModelDiscovery, type Model } from "@paperclip-k8s/paperclip";
import { noPluginInstall } from "./config-layer.ts";
import { models } from "./models.ts";
import { variables } from "./variables.ts";

const TIMEOUT_MS = 20_000;
const MAX_OUTPUT = 4 * 1024 * 1024;
/** Beside keys, proxies and certificates: where programs are, and what the operator has set about models, except for files. */
const TAKEN = ["PATH", "LD_LIBRARY_PATH", "OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_MODELS_URL"];

/** The static models, then those that the CLI on this server reports, where there is one. */
export function createListModels(command = "opencode", now: () => number = Date.now, timeoutMs = TIMEOUT_MS): () => Promise<Model[]> {
  const report = async () => parseModels(await runModels(command, timeoutMs)).map((id) => ({ id, label: id }));
  return createModelDiscovery(() => models, report, now);
}

/** One `provider/model` per line; other lines are skipped. */
export function parseModels(output: string): string[] {
  const ids = output.split("\n").map((line) => line.trim());
  return [...new Set(ids.filter((id) => /^[\w.-]+\/[\w./:@-]+$/.test(id)))];
}

/**
 * The CLI runs plugins of its home and of the folder it is started in, and the server's home may be the volume that agents write on. So it
 * gets an empty home, and of the environment what any run may have.
 */
async function runModels(command: string, timeoutMs: number): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "opencode-models-"));
  try {
    for (const [name, text] of Object.entries(noPluginInstall)) {
      const path = join(home, ".config/opencode", name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    return await outputOf(command, home, timeoutMs);
  } finally {
    await rm(home, { recursive: true, force: true }).catch(() => {});
  }
}

async function outputOf(command: string, home: string, timeoutMs: number): Promise<string> {
  const { execFile } = await import("node:child_process");
  const options = { cwd: home, env: privateEnv(home), timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT } as const;
  return new Promise((resolve) => {
    // A CLI that is not there, fails or hangs leaves the static list.
    const child = execFile(command, ["models"], options, (error, stdout) => resolve(error === null ? stdout : ""));
    child.stdin?.end();
  });
}

function privateEnv(home: string): Record<string, string> {
  const taken = TAKEN.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const off = { OPENCODE_DISABLE_PROJECT_CONFIG: "true", OPENCODE_DISABLE_AUTOUPDATE: "true" };
  return { ...allowedEnv(process.env, variables), ...Object.fromEntries(taken), ...off, HOME: home, TMPDIR: home };
}
