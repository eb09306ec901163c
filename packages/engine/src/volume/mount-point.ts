import { readFileSync } from "node:fs";
import { resolve } from "node:path/posix";

/**
 * The mount point that a path is below, by its text alone; "/" where the system does not list its mounts. The list is the kernel's own:
 * reading it touches no mount and cannot hang.
 */
export function mountPointOf(path: string, list: () => string = readMounts): string {
  const asked = resolve(path);
  const points = list()
    .split("\n")
    .map((line) => (line.split(" ")[1] ?? "").replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))));
  const above = points.filter((point) => point.startsWith("/") && (asked === point || asked.startsWith(point === "/" ? "/" : `${point}/`)));
  return above.reduce((longest, point) => (point.length > longest.length ? point : longest), "/");
}

function readMounts(): string {
  try {
    return readFileSync("/proc/self/mounts", "utf8");
  } catch {
    return "";
  }
}
