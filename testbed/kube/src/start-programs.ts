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
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] };
}

/** Null when it is ready and takes pods. */
export async function whyNotReady(admin: Admin, name: string): Promise<string | null> {
  const { conditions = [] } = (await admin.request<Node>("GET", `/api/v1/nodes/${name}`)).status;
  if (!conditions.some(({ type }) => type === "Ready")) return "it has not reported yet";
  // Every other condition is a pressure: of memory, disk or processes.
  const wrong = conditions.filter(({ type, status }) => status !== (type === "Ready" ? "True" : "False"));
  return wrong.length === 0 ? null : wrong.map(({ type, status, message }) => `${type}=${status}: ${message ?? ""}`).join("; ");
}

export const isNodeReady = async (admin: Admin, name: string): Promise<boolean> => (await whyNotReady(admin, name)) === null;

export async function nodeReady(admin: Admin, name: string): Promise<void> {
  await until(`node ${name} to be Ready`, 60, () => isNodeReady(admin, name));
}
