// The path by which a file of a mounted Secret can be read for as long as the pod lives.
import { basename, dirname, join } from "node:path";

/** Bun resolves the kubelet's links: what it names is the folder of one version (`..2026_…`), gone after the next update. */
export function mountedPath(file: string): string {
  const folder = dirname(file);
  return /^\.\.[^/]/.test(basename(folder)) ? join(dirname(folder), basename(file)) : file;
}
