import { basename, normalize, resolve } from "node:path";
import { TOOLS_MOUNT } from "@paperclip-k8s/engine";
import { type Given, text, UsageError } from "./values.ts";

export interface CollectToolsCommand {
  readonly name: "collect-tools";
  readonly out: string;
  /** Where pods have the folder. */
  readonly mount: string;
  /** Null = the Node that runs this command. */
  readonly node: string | null;
  /** Paths, or names to look for in PATH, by the names that they get. */
  readonly clis: Readonly<Record<string, string>>;
}

export function collectToolsCommand(given: Given, folders: readonly string[]): CollectToolsCommand {
  const [out] = folders;
  if (out === undefined || folders.length > 1) throw new UsageError("collect-tools takes one folder; see paperclip-k8s help collect-tools");
  const mount = text(given.mount) ?? TOOLS_MOUNT;
  if (!/^\/[^/]+(\/[^/]+)+$/.test(mount) || normalize(mount) !== mount)
    throw new UsageError(`--mount: "${mount}" is not a path like ${TOOLS_MOUNT}`);
  const node = text(given.node);
  return { name: "collect-tools", out: resolve(out), mount, node: node === null ? null : resolve(node), clis: clisOf(given.cli) };
}

/** `path`, `name`, or `name=path`. */
function clisOf(given: Given[string]): Record<string, string> {
  const clis: Record<string, string> = {};
  for (const item of Array.isArray(given) ? given.map(String) : []) {
    const [, named, place] = /^([^=/]+)=(.+)$/.exec(item) ?? [];
    const path = place ?? item;
    const name = named ?? basename(path).replace(/\.exe$/, "");
    if (!/^[A-Za-z0-9][\w.-]*$/.test(name) || name === "node" || Object.hasOwn(clis, name))
      throw new UsageError(`--cli: "${name}" cannot be the name of a program beside the others`);
    clis[name] = path;
  }
  return clis;
}
