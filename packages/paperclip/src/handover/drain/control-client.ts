import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { drainFolders, isOurSocket } from "./address.ts";
import type { DrainAnswer, DrainOrder } from "./protocol.ts";

export interface KnockOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  /** For tests. */
  readonly folders?: readonly string[];
}

/** The other side of the door: gives an order to every adapter of this instance on this machine. */
export async function callControlSocket(order: DrainOrder, options: KnockOptions): Promise<DrainAnswer[]> {
  const sockets = await findSockets(options.folders ?? drainFolders(options.env), options.env);
  const answers = await Promise.all(sockets.map((path) => ask(path, order, options.timeoutMs)));
  return answers.filter((answer) => answer !== null);
}

async function findSockets(folders: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const files = await readdir(folder).catch(() => []);
      return files.filter((file) => isOurSocket(file, env)).map((file) => join(folder, file));
    }),
  );
  return found.flat();
}

/** Null = nobody is behind it any more. */
function ask(path: string, order: DrainOrder, timeoutMs: number): Promise<DrainAnswer | null> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(path, () => socket.write(`${JSON.stringify(order)}\n`));
    socket.setEncoding("utf8");
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on("data", (piece: string) => {
      text += piece;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(parsed(text)));
  });
}

function parsed(text: string): DrainAnswer | null {
  try {
    return JSON.parse(text) as DrainAnswer;
  } catch {
    return null;
  }
}
