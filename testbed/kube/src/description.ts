import { existsSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommandLine, ProgramName } from "./programs.ts";

/** What others need to know of a running cluster; written last, so whoever finds it finds a cluster that ran a pod. */
export interface Description {
  readonly dir: string;
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly server: string;
  readonly caFile: string;
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly hostAddress: string;
  readonly auditLog: string;
  readonly volumes: string;
  readonly images: { readonly agent: string; readonly shell: string; readonly pause: string };
  /** What it was made from: another value means that `up` would make another cluster today. */
  readonly madeFrom: string;
  readonly programs: Readonly<Record<ProgramName, CommandLine>>;
}

const fileIn = (dir: string): string => join(dir, "cluster.json");

export function readDescription(dir: string): Description | null {
  return existsSync(fileIn(dir)) ? (JSON.parse(readFileSync(fileIn(dir), "utf8")) as Description) : null;
}

export async function writeDescription(description: Description): Promise<void> {
  await writeFile(`${fileIn(description.dir)}.new`, JSON.stringify(description, null, 2));
  await rename(`${fileIn(description.dir)}.new`, fileIn(description.dir));
}
