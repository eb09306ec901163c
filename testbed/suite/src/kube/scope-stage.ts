import { randomUUID } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentCli } from "@paperclip-k8s/paperclip";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import type { AgentRun, Agents } from "../agents.ts";

export const INSTANCE = "instances/default";

/** What no pod of company-1 may see, beside what its agents have. */
export const FOREIGN = [
  `${INSTANCE}/db/PG_VERSION`,
  `${INSTANCE}/secrets/master.key`,
  `${INSTANCE}/config.json`,
  `${INSTANCE}/workspaces/another-agent/notes.md`,
  `${INSTANCE}/projects/company-2/project-9/repo/code.ts`,
  `${INSTANCE}/projects/company-1/another-project/repo/code.ts`,
  `${INSTANCE}/companies/company-2/agents/a/instructions/AGENTS.md`,
  `${INSTANCE}/data/run-logs/company-1/another-agent/another-run.pod/output.ndjson`,
  `${INSTANCE}/data/agent-state/company-1/another-agent/agent/task-1/current`,
  `${INSTANCE}/data/prompt-bundles/company-2/0123/agent-instructions.md`,
  "adapter-plugins/plugin/index.js",
  ".gitconfig",
  ".ssh/id_ed25519",
];

/** Writes files on the volume, as the host does, for everybody to change: only mounts keep pods from them. */
export async function put(data: string, paths: readonly string[], text = "x\n"): Promise<void> {
  for (const path of paths) {
    await mkdir(join(data, dirname(path)), { recursive: true });
    await writeFile(join(data, path), text);
    await chmod(join(data, path), 0o666);
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) await chmod(join(data, folder), 0o777);
  }
}

/** A run whose CLI is this shell script: what it printed, line by line. */
export async function viewFrom(stage: Agents, run: Omit<AgentRun, "prompt"> & { readonly script: string }): Promise<string[]> {
  const lines: string[] = [];
  const changeCli = (cli: AgentCli): AgentCli => ({
    ...(run.changeCli?.(cli) ?? cli),
    plan: () => ({ argv: ["sh", "-c", run.script], plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser: () => ({
      push: (line) => {
        lines.push(line);
        return [];
      },
      report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
      fault: () => null,
    }),
  });
  const { result, log } = await stage.run({ agent: randomUUID(), prompt: "Look around.", ...run, changeCli });
  if (result.exitCode !== 0) throw new Error(`${JSON.stringify(result)}\n${log}`);
  return lines;
}
