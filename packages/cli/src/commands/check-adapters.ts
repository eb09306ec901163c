import { basename } from "node:path";
import { installedAdapters, loadProblem } from "../adapters/installed.ts";
import type { Command } from "../arguments/command.ts";
import { UsageError } from "../arguments/values.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

/** Before the server starts: whether it will load the adapters that it has. If it does not, it runs their agents inside itself, without a word on any page. */
export async function checkAdapters({ data }: Extract<Command, { name: "check-adapters" }>, { out, err }: Terminal): Promise<ExitCode> {
  if (data === null) throw new UsageError("--data: PAPERCLIP_HOME is not set, so the folder has to be named");
  const installed = await installedAdapters(data);
  if (installed.length === 0) out("no adapter of ours is installed yet");
  let broken = 0;
  for (const adapter of installed) {
    const problem = await loadProblem(adapter);
    if (problem === null) {
      out(`${adapter.type}: ${basename(adapter.folder)} can be loaded`);
      continue;
    }
    broken += 1;
    err(`${adapter.type}: ${adapter.folder} cannot be loaded: ${problem}`);
  }
  if (broken > 0) err("Paperclip must not start like this: it would run these agents inside the server (docs/troubleshooting.md)");
  return broken === 0 ? EXIT.done : EXIT.left;
}
