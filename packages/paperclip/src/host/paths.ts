import { checkedPart } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "./types.ts";

// The only module that knows how the host's and our own files lie on the shared volume.

/** Where an instance's files are: PAPERCLIP_HOME, and the instance in it. */
export interface InstancePlace {
  readonly dataPath: string;
  readonly instanceId: string;
}

/** Folders of an instance's data; in each there is a folder per company. */
export type DataKind = "run-logs" | "agent-state" | "prompt-bundles";

type Owner = Pick<ExecutionContext, "agent">;

export const instanceFolder = (home: string, instance: string): string => `${home}/instances/${instance}`;

export function dataFolder({ dataPath, instanceId }: InstancePlace, kind: DataKind): string {
  return `${instanceFolder(dataPath, checkedPart("PAPERCLIP_INSTANCE_ID", instanceId))}/data/${kind}`;
}

/** The output file of an attempt, where the host keeps its run logs. */
export function outputPath(ctx: Owner & Pick<ExecutionContext, "runId">, place: InstancePlace, attempt: number): string {
  const run = checkedPart("runId", ctx.runId);
  const file = attempt === 1 ? run : `${run}-${attempt}`;
  return `${agentFolder(ctx, place, "run-logs")}/${file}.pod.ndjson`;
}

/** A run's id ends in a group of twelve, so that the number of a later attempt can be distinguished from it. */
const OUTPUT_FILE = /^(.+?)(?:-(\d{1,2}))?\.pod\.ndjson(\.meta|\.claim)?$/;

export interface OutputFile {
  readonly runId: string;
  readonly attempt: number;
  /** Without what marks the files beside it. */
  readonly output: string;
}

/** What an output file, or one of the files beside it, is named for; null = it is none. */
export function parseOutputFile(name: string): OutputFile | null {
  const [, runId, attempt = "1", beside = ""] = OUTPUT_FILE.exec(name) ?? [];
  return runId === undefined ? null : { runId, attempt: Number(attempt), output: name.slice(0, name.length - beside.length) };
}

/** The saved session of one task of an agent. */
export function stateFolder(ctx: Owner, place: InstancePlace, container: string, task: string): string {
  return `${agentFolder(ctx, place, "agent-state")}/${container}/${checkedPart("task", task)}`;
}

/** Begins the names of bundles that are being written or removed. */
export const UNFINISHED_BUNDLE = ".part-";

/** Instructions and skills of one company's agents, each in a folder named by its content. */
export function bundlesFolder(ctx: Owner, place: InstancePlace): string {
  return companyFolder(ctx, place, "prompt-bundles");
}

export function agentFolder(owner: Owner, place: InstancePlace, kind: DataKind): string {
  return `${companyFolder(owner, place, kind)}/${checkedPart("agent.id", owner.agent.id)}`;
}

function companyFolder({ agent }: Owner, place: InstancePlace, kind: DataKind): string {
  return `${dataFolder(place, kind)}/${checkedPart("agent.companyId", agent.companyId)}`;
}
