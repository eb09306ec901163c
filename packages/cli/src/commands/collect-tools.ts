import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { CollectToolsCommand } from "../arguments/collect-tools.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";
import { collectTools, ToolsError } from "../tools/collect.ts";

/** Makes the content of a tools image from the Node and the CLIs of the machine or image that this runs in. */
export async function collectToolsHere(command: CollectToolsCommand, { out, err, env }: Terminal): Promise<ExitCode> {
  try {
    const clis = Object.entries(command.clis).map(([name, place]) => [name, findProgram(place, env.PATH ?? "")]);
    const programs = { node: command.node ?? process.execPath, ...Object.fromEntries(clis) };
    const { programs: versions, libraries } = await collectTools({ out: command.out, mount: command.mount, programs });
    for (const [name, version] of Object.entries(versions))
      out(`${name}: ${version ?? `starts only where the folder is ${command.mount}`}`);
    out(`${libraries.length} libraries and their loader, for pods that have the folder at ${command.mount}`);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof ToolsError) && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
    err(`paperclip-k8s: ${(error as Error).message}`);
    return EXIT.error;
  }
}

function findProgram(place: string, path: string): string {
  if (place.includes("/")) return resolve(place);
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, place))
    .find(isExecutable);
  if (found === undefined) throw new ToolsError(`there is no program ${place} in PATH`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
