import { isAbsolute, normalize } from "node:path/posix";
import { VolumeError } from "./volume-error.ts";

/** An id that becomes part of a path. */
export class PathPartError extends Error {
  override readonly name = "PathPartError";
  readonly code = "bad_path_part";
  readonly field: string;

  constructor(field: string, value: unknown) {
    super(`${field} must consist of letters, digits and hyphens to be part of a path, but is ${shown(value)}`);
    this.field = field;
  }
}

/** Keeps `..`, `/` and the like out of paths that are made of ids. */
export function checkedPart(field: string, value: unknown): string {
  if (typeof value !== "string" || !/^[a-zA-Z0-9-]+$/.test(value)) throw new PathPartError(field, value);
  return value;
}

function shown(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : `of type ${typeof value}`;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

/** The root without its trailing slash, so that one mount has one process however it is spelled. */
export function checkedRoot(root: string): string {
  if (!isAbsolute(root) || root.includes("\0")) throw new VolumeError("volume_denied", root, `not an absolute path: ${shown(root)}`);
  const normal = normalize(root);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

/** Checks the text only: the server must not touch the volume. */
export function checkedPath(root: string, path: string): string {
  const normal = normalize(path);
  const prefix = root === "/" ? "/" : `${root}/`;
  if (!isAbsolute(path) || path.includes("\0") || !normal.startsWith(prefix) || normal.endsWith("/")) {
    throw new VolumeError("volume_denied", path, `${shown(path)} is not a file below ${root}`);
  }
  return normal;
}
