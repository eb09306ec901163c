import { dirname } from "node:path/posix";
import { checkedPart, withoutTrailing } from "@paperclip-k8s/engine";
import type { ExecutionContext } from "./types.ts";

// The only module that knows how the host's and our own files lie on the shared volume.

/** Where an instance's files are: PAPERCLIP_HOME, and the instance in it. */
export interface InstancePlace {
  readonly dataPath: string;
  readonly instanceId: string;
}

/** Folders of an instance's data; in each there is a folder per company. */
type DataKind = "run-logs" | "agent-state" | "prompt-bundles";

type Owner = Pick<ExecutionContext, "agent">;

/** Where the host is at home unless PAPERCLIP_HOME says otherwise. */
export const DEFAULT_HOME = "/paperclip";
export const homeOf = (serverEnv: NodeJS.ProcessEnv): string => withoutTrailing(serverEnv.PAPERCLIP_HOME || DEFAULT_HOME, "/", 1);

/** Where the host notes which adapter packages it loads at its start, and where it puts those that it has from a registry. */
export const installedAdaptersFile = (home: string): string => `${home}/adapter-plugins.json`;
export const adapterPackageFolder = (home: string, name: string): string => `${home}/adapter-plugins/node_modules/${name}`;

export const instanceFolder = (home: string, instance: string): string => `${home}/instances/${instance}`;

/** Holds all instances: database, keys and settings of the host, and every company's files. */
export const instancesFolder = (home: string): string => `${home}/instances`;

export function dataFolder({ dataPath, instanceId }: InstancePlace, kind: DataKind): string {
  return `${folderOf({ dataPath, instanceId })}/data/${kind}`;
}

const folderOf = ({ dataPath, instanceId }: InstancePlace): string =>
  instanceFolder(dataPath, checkedPart("PAPERCLIP_INSTANCE_ID", instanceId));

/** What the server keeps for itself, in the instance's folder: no pod mounts this one. */
export const SERVERS_OWN = "k8s-adapter";
export const recordSecretFile = (place: InstancePlace): string => `${folderOf(place)}/${SERVERS_OWN}/record-secret`;

/** What the server has found out about images that it runs agents in, a file for each. */
export const imageNotes = (place: InstancePlace): string => `${folderOf(place)}/${SERVERS_OWN}/images`;

const OUTPUT_FILE = "output.ndjson";

/** The output file of an attempt: in a folder that is the attempt's own, where the host keeps its run logs. */
export function outputPath(ctx: Owner & Pick<ExecutionContext, "runId">, place: InstancePlace, attempt: number): string {
  return `${agentFolder(ctx, place, "run-logs")}/${attemptName(ctx.runId, attempt)}.pod/${OUTPUT_FILE}`;
}

/** Of how many attempts of a run the folders are looked at: each has something changed, so that there are few. */
const MOST_ATTEMPTS = 8;

/** In the folder of an attempt: where its Job is. */
export const jobNotePath = (ctx: Owner & Pick<ExecutionContext, "runId">, place: InstancePlace, attempt: number): string =>
  `${dirname(outputPath(ctx, place, attempt))}/job.json`;

/** Where the attempts of a run have theirs. */
export const jobNotePaths = (owner: Owner, place: InstancePlace, runId: string): string[] =>
  Array.from({ length: MOST_ATTEMPTS }, (_, index) => jobNotePath({ ...owner, runId }, place, index + 1));

function attemptName(runId: string, attempt: number): string {
  const run = checkedPart("runId", runId);
  return attempt === 1 ? run : `${run}-${attempt}`;
}

/** The ends of earlier outputs, beside the folders of the runs: no pod mounts it. */
export const KEPT_OUTPUTS = "kept-output";
/** Begins the names of files there that are being written or removed. */
export const UNFINISHED_OUTPUT = ".part-";

export const keptOutputFolder = (owner: Owner, place: InstancePlace): string => `${agentFolder(owner, place, "run-logs")}/${KEPT_OUTPUTS}`;

/** Where the end of an attempt's output stays, if the operator wants it. */
export function keptOutputPath(ctx: Owner & Pick<ExecutionContext, "runId">, place: InstancePlace, attempt: number): string {
  return `${keptOutputFolder(ctx, place)}/${attemptName(ctx.runId, attempt)}.ndjson`;
}

/** A run's id ends in a group of twelve, so that the number of a later attempt can be distinguished from it. */
const ATTEMPT_FOLDER = /^(.+?)(?:-(\d{1,2}))?\.pod$/;
/** Earlier versions had no folder per attempt: its files stood among those of the agent's other runs. */
const EARLIER_FILE = /^(.+?)(?:-(\d{1,2}))?\.pod\.ndjson(\.meta|\.claim)?$/;

/** The end of an output that was kept. */
const KEPT_FILE = /^(?!\.)(.+?)(?:-(\d{1,2}))?\.ndjson$/;

/** Which attempt a name in that folder stands for; null = none. */
export function parseKeptOutput(name: string): Pick<OutputFile, "runId" | "attempt"> | null {
  const [, runId, attempt = "1"] = KEPT_FILE.exec(name) ?? [];
  return runId === undefined ? null : { runId, attempt: Number(attempt) };
}

export interface OutputFile {
  readonly runId: string;
  readonly attempt: number;
  /** Path of the output file, from the folder of all runs of the agent. */
  readonly output: string;
  /** The attempt's own folder; null = an earlier version wrote it. */
  readonly folder: string | null;
}

/** What a name in the folder of an agent's runs stands for; null = nothing of ours. */
export function parseOutputFile(name: string): OutputFile | null {
  const [, own, ownAttempt = "1"] = ATTEMPT_FOLDER.exec(name) ?? [];
  if (own !== undefined) return { runId: own, attempt: Number(ownAttempt), output: `${name}/${OUTPUT_FILE}`, folder: name };
  const [, runId, attempt = "1", beside = ""] = EARLIER_FILE.exec(name) ?? [];
  if (runId === undefined) return null;
  return { runId, attempt: Number(attempt), output: name.slice(0, name.length - beside.length), folder: null };
}

/** Says that the cost of a run which ended while no server was there has been reported. Beside the attempts' folders, where no pod can write. */
export const costMark = (runId: string): string => `${checkedPart("runId", runId)}.pod-cost.json`;

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

/** The folder that the host makes for an agent: AGENT_HOME, and its workspace where it has no other. */
export function agentHome({ agent }: Owner, place: InstancePlace): string {
  return `${folderOf(place)}/workspaces/${checkedPart("agent.id", agent.id)}`;
}

/** The host's checkouts of one project, with their worktrees. */
export function projectFolder({ agent }: Owner, place: InstancePlace, projectId: string): string {
  return `${folderOf(place)}/projects/${hostSegment(agent.companyId, "company")}/${hostSegment(projectId, "project")}`;
}

/** What the host keeps for an agent alone. */
export function agentsOwnFolder({ agent }: Owner, place: InstancePlace): string {
  const company = checkedPart("agent.companyId", agent.companyId);
  return `${folderOf(place)}/companies/${company}/agents/${checkedPart("agent.id", agent.id)}`;
}

/** The host's own instructions of an agent, with the files that belong to them. */
export const instructionsFolder = (owner: Owner, place: InstancePlace): string => `${agentsOwnFolder(owner, place)}/instructions`;

/** The skills that the host keeps for a company. */
export function companySkills({ agent }: Owner, place: InstancePlace): string {
  return `${folderOf(place)}/skills/${checkedPart("agent.companyId", agent.companyId)}`;
}

/** Every folder that some agent's pod may write to, whichever run it is for; `*` stands for one path component. */
export function writablePlaces({ dataPath }: Pick<InstancePlace, "dataPath">): string[] {
  const own = ["workspaces/*", "projects/*/*", "data/run-logs/*/*/*", "data/agent-state/*/*/*/*"];
  return own.map((folder) => `${instanceFolder(dataPath, "*")}/${folder}`);
}

/** As the host makes a folder's name of an id. */
function hostSegment(id: string, fallback: string): string {
  const begun = id
    .trim()
    .replace(/[^a-zA-Z0-9._-]+/g, "-")
    .replace(/^-+/, "");
  const safe = withoutTrailing(begun, "-");
  // The host would leave the folder with these.
  return safe === "" || safe === "." || safe === ".." ? fallback : safe;
}

export function agentFolder(owner: Owner, place: InstancePlace, kind: DataKind): string {
  return `${companyFolder(owner, place, kind)}/${checkedPart("agent.id", owner.agent.id)}`;
}

function companyFolder({ agent }: Owner, place: InstancePlace, kind: DataKind): string {
  return `${dataFolder(place, kind)}/${checkedPart("agent.companyId", agent.companyId)}`;
}
