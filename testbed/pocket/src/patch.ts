import { isDeepStrictEqual } from "node:util";
import { badRequest, patchRejected } from "./status.ts";

type Json = unknown;
const isRecord = (value: Json): value is Record<string, Json> => typeof value === "object" && value !== null && !Array.isArray(value);

// RFC 7386: null removes, arrays are replaced whole.
export function mergePatch(target: Json, patch: Json): Json {
  if (!isRecord(patch)) return patch;
  const result: Record<string, Json> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

interface Operation {
  op: string;
  path: string;
  from?: string;
  value?: Json;
}

// RFC 6902; anything that does not apply is answered like a failed `test`.
export function jsonPatch(target: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw badRequest("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  const root = { value: structuredClone(target) };
  for (const operation of operations as Operation[]) apply(root, operation);
  return root.value;
}

function apply(root: { value: Json }, operation: Operation): void {
  const at = ["value", ...pointer(operation.path)];
  const from = () => ["value", ...pointer(operation.from ?? "")];
  if (operation.op === "test") {
    if (!isDeepStrictEqual(read(root, at), operation.value)) throw patchRejected();
  } else if (operation.op === "add") {
    add(root, at, operation.value);
  } else if (operation.op === "replace") {
    remove(root, at);
    add(root, at, operation.value);
  } else if (operation.op === "remove") {
    remove(root, at);
  } else if (operation.op === "move") {
    add(root, at, remove(root, from()));
  } else if (operation.op === "copy") {
    add(root, at, structuredClone(read(root, from())));
  } else {
    throw patchRejected();
  }
}

function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw patchRejected();
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(root: Json, path: readonly string[]): Json {
  let here = root;
  for (const part of path) {
    if (Array.isArray(here)) here = here[Number(part)];
    else if (isRecord(here)) here = here[part];
    else throw patchRejected();
  }
  return here;
}

function add(root: Json, path: readonly string[], value: Json): void {
  const parent = read(root, path.slice(0, -1));
  const last = path.at(-1)!;
  if (Array.isArray(parent)) parent.splice(last === "-" ? parent.length : indexIn(parent, last, 0), 0, value);
  else if (isRecord(parent)) parent[last] = value;
  else throw patchRejected();
}

function remove(root: Json, path: readonly string[]): Json {
  const parent = read(root, path.slice(0, -1));
  const last = path.at(-1)!;
  if (Array.isArray(parent)) return parent.splice(indexIn(parent, last, -1), 1)[0];
  if (!isRecord(parent) || !Object.hasOwn(parent, last)) throw patchRejected();
  const value = parent[last];
  delete parent[last];
  return value;
}

function indexIn(array: readonly Json[], part: string, extra: number): number {
  const index = Number(part);
  if (!Number.isInteger(index) || index < 0 || index > array.length + extra) throw patchRejected();
  return index;
}
