import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "@paperclip-k8s/engine";
import { adapterPackageFolder, installedAdaptersFile } from "@paperclip-k8s/paperclip/paths";
import { recordOf, textOf } from "@paperclip-k8s/paperclip/values";
import { cliOfType } from "../../../agent-clis.ts";

/** An adapter of ours as the host has noted it, to load it at each start. */
export interface InstalledAdapter {
  readonly type: string;
  readonly folder: string;
}

/** What the host will load; throws if it could not read its own notes, because it would then start as if nothing had been installed. */
export async function installedAdapters(home: string): Promise<InstalledAdapter[]> {
  const file = installedAdaptersFile(home);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "[]";
    throw error;
  });
  const records = parse(text);
  if (records === null) throw new Error(`${file} is not the host's list of adapters: Paperclip would start without any of them`);
  const noted = records.map((record) => ({ type: textOf(record.type) ?? "", folder: folderOf(record, home) }));
  const clis = await Promise.all(noted.map(({ type }) => cliOfType(type)));
  return noted.filter((_, at) => clis[at] !== null);
}

function parse(text: string): Readonly<Record<string, unknown>>[] | null {
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.map(recordOf) : null;
  } catch {
    return null;
  }
}

const folderOf = ({ localPath, packageName }: Readonly<Record<string, unknown>>, home: string): string =>
  textOf(localPath) === null ? adapterPackageFolder(home, textOf(packageName) ?? "") : resolve(String(localPath));

/** Why the host could not load it, or would have it under another type; null = it can. Loads it into this process, as the host does. */
export async function loadProblem({ type, folder }: InstalledAdapter): Promise<string | null> {
  try {
    const { exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { exports: { ".": { default: string } } };
    const module = (await import(pathToFileURL(join(folder, exports["."].default)).href)) as { createServerAdapter?: unknown };
    if (typeof module.createServerAdapter !== "function") return "it exports no createServerAdapter";
    const loaded = textOf(recordOf(module.createServerAdapter()).type);
    return loaded === type ? null : `it is an adapter of type ${loaded}`;
  } catch (error) {
    return messageOf(error);
  }
}
