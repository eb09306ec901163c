import { join } from "node:path";
import type { Admin } from "./admin.ts";
import { startInNode } from "./node-namespaces.ts";
import { processesOf } from "./processes.ts";
import type { CommandLine, ProgramName } from "./programs.ts";
import { until } from "./wait.ts";

export type Programs = Readonly<Record<ProgramName, CommandLine>>;

/** Starts one with the command line it always has. */
export async function startProgram(dir: string, programs: Programs, name: ProgramName): Promise<void> {
  const command = programs[name];
  if (processesOf(command[0]).length > 0) throw new Error(`${name} is already running`);
  await startInNode(dir, command, join(dir, "log", `${name}.log`));
}

export async function apiServerReady(admin: Admin): Promise<void> {
  await until("the API server", 60, async () => (await admin.request("GET", "/readyz")) === "ok");
}

interface Node {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const isNodeReady = async (admin: Admin, name: string): Promise<boolean> => {
  const node = await admin.request<Node>("GET", `/api/v1/nodes/${name}`);
  return node.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
};

export async function nodeReady(admin: Admin, name: string): Promise<void> {
  await until(`node ${name} to be Ready`, 60, () => isNodeReady(admin, name));
}
