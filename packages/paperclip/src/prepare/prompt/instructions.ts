import { dirname, resolve } from "node:path";
import { messageOf } from "@paperclip-k8s/engine";
import type { Policy } from "../../policy/policy.ts";
import { Refusals } from "../../policy/refusal.ts";
import { quote } from "../../settings/config-error.ts";
import type { ServerFiles } from "./server-files.ts";

/** What was read for the prompt, and what the log says about it. */
export interface ReadText {
  readonly text: string;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

/** The agent's instructions from the server's disk, and where they came from, so that the files they name are found. */
export async function readInstructions(path: string | null, cwd: string, files: ServerFiles, policy: Policy): Promise<ReadText> {
  if (path === null) return { text: "", notes: [], warnings: [] };
  const file = resolve(cwd, path);
  if (!files.allows(file)) {
    const refusals = new Refusals(policy);
    refusals.notListed("instructionsFilePath", "files", file, `${quote(file)}, which is none of the host's folders for this agent,`);
    refusals.check();
  }
  try {
    const text = (await files.read(file)).trim();
    if (text === "") return { text: "", notes: [`instructions file ${file} is empty`], warnings: [] };
    return { text: `${text}\n\n${originNote(file)}`, notes: [`instructions from ${file}`], warnings: [] };
  } catch (error) {
    return { text: "", notes: [], warnings: [`instructions file ${file} was not read (${messageOf(error)}); the run goes on without it`] };
  }
}

function originNote(file: string): string {
  const folder = dirname(file);
  return (
    `The instructions above were read from ${file}. Relative paths in them, and the files that belong to them ` +
    `(HEARTBEAT.md, SOUL.md, TOOLS.md), are to be resolved from ${folder}/, not from the parent agent directory.`
  );
}
