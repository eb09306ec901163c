import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { isBelow } from "../../host/context-values.ts";

/** Where something really is. */
export interface Located {
  readonly path: string;
  /** On the shared volume: its root, from which no link may lead there any more. Null = elsewhere on the server. */
  readonly root: string | null;
}

/**
 * Pods write below `shared` and may put a link there, so a path that begins there has to end there. A server that is root can read what
 * pods cannot even there, and follows none. What the operator has elsewhere is trusted with its links.
 */
export async function locate(path: string, shared: string | null): Promise<Located> {
  const asked = resolve(path);
  const target = await realpath(asked);
  if (shared === null || !isBelow(asked, resolve(shared))) return { path: target, root: null };
  const root = await realpath(shared);
  if (!isBelow(target, root)) throw new Error(`it leads out of ${shared}`);
  if (process.geteuid?.() === 0 && target !== resolve(root, relative(resolve(shared), asked)))
    throw new Error(`a link leads to ${target}, and a server that is root follows none on ${shared}`);
  return { path: target, root };
}
