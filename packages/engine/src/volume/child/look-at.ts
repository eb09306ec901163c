import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import type { Of, SeenPath } from "../protocol.ts";
import { kindOf } from "./entries.ts";
import { inFolder, LinkError, orNull } from "./in-folder.ts";
import { pause } from "./tail-loop.ts";

/** What is at each path, reached step by step: a link on the way is found and never followed. */
export async function lookAt(root: string, { paths }: Of<"lookAt">): Promise<SeenPath[]> {
  const seen: SeenPath[] = [];
  for (const path of paths) {
    await pause();
    seen.push(await lookAtOne(root, path));
  }
  return seen;
}

async function lookAtOne(root: string, path: string): Promise<SeenPath> {
  try {
    const stats = await inFolder(root, dirname(path), (at) => orNull(() => lstatSync(at(basename(path))), ["ENOENT"]));
    return { path, kind: stats === null ? "missing" : kindOf(stats), link: stats?.isSymbolicLink() === true ? path : null };
  } catch (error) {
    if (error instanceof LinkError) return { path, kind: "link", link: error.path };
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { path, kind: "missing", link: null };
    // One that the server may not look at costs only itself.
    if (code === "EACCES") return { path, kind: "other", link: null };
    throw error;
  }
}
