import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { inject } from "vitest";
import { CLI } from "../src/packages/install.ts";
import type { Stage } from "../src/stage.ts";
import { HANG_MS } from "../src/wait.ts";

export interface Said {
  readonly code: number | null;
  readonly out: string;
}

/** Our packed command line as in the server's container: its folders, its address, its secret. `after`: ended by SIGTERM once that has come. */
export async function operator(stage: Stage, args: readonly string[], after?: (said: () => string) => Promise<unknown>): Promise<Said> {
  const { home, url } = stage.host;
  const place = { PAPERCLIP_HOME: home.path, TMPDIR: home.tmp, PAPERCLIP_API_URL: url, KUBECONFIG: stage.cluster.kubeconfig };
  const env = { PATH: process.env.PATH, ...place, PAPERCLIP_AGENT_JWT_SECRET: home.jwtSecret };
  const program = join(inject("packed").folder, CLI, "dist/main.js");
  const child = spawn(process.execPath, [program, ...args], { env, timeout: HANG_MS });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (out += text));
  const closed = once(child, "close");
  if (after !== undefined) await after(() => out).finally(() => child.kill("SIGTERM"));
  const [code] = (await closed) as [number | null];
  return { code, out };
}

export const recover = (stage: Stage, ...args: string[]): Promise<Said> => operator(stage, ["recover", "-n", stage.namespace, ...args]);

/** A drain that was not through leaves the server as it was: else it would take no more runs for ten minutes. */
export async function drain(stage: Stage, ...args: string[]): Promise<Said> {
  const said = await operator(stage, ["drain", "--timeout", "120s", ...args]);
  if (said.code !== 0) await operator(stage, ["drain", "--undo"]);
  return said;
}
