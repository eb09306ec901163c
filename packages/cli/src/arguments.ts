import { resolve } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { ClusterArguments } from "./cluster/access.ts";

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface HostArguments {
  readonly url: string;
  readonly token: string | null;
  readonly company: string | null;
}

/** PAPERCLIP_HOME of the server as seen from here, and the instance in it. */
export interface Place {
  /** Null = its files cannot be seen from here. */
  readonly data: string | null;
  readonly instance: string;
}

export type Command =
  | { readonly name: "help"; readonly of: string | null }
  | { readonly name: "version" }
  | (Place & {
      readonly name: "recover";
      readonly cluster: ClusterArguments;
      readonly host: HostArguments;
      readonly issues: readonly string[];
      /** The operator's own sentence on why the agents of these issues have stopped; null = none was given. */
      readonly stopped: string | null;
      readonly dryRun: boolean;
      /** Whether the host learns what runs cost that ended while nobody was there. */
      readonly costs: boolean;
      /** Seconds between two rounds; null = one round. */
      readonly watch: number | null;
    })
  | { readonly name: "drain"; readonly undo: boolean; readonly reason: string | null; readonly timeoutSec: number }
  | (Place & {
      readonly name: "sweep";
      readonly cluster: ClusterArguments;
      readonly olderThanSec: number;
      readonly filesOlderThanSec: number;
      readonly delete: boolean;
    })
  | { readonly name: "status"; readonly cluster: ClusterArguments }
  /** `run`: its id, or how that begins. */
  | { readonly name: "transcript"; readonly run: string; readonly data: string; readonly instance: string }
  | {
      readonly name: "policy";
      /** Null = the one that the environment names. */
      readonly file: string | null;
      readonly json: boolean;
    };

const CLUSTER = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  namespace: { type: "string", short: "n", multiple: true },
} as const;
const HOST = { url: { type: "string" }, company: { type: "string" } } as const;
const HELP = { help: { type: "boolean", short: "h" } } as const;

const OPTIONS = {
  recover: {
    ...CLUSTER,
    ...HOST,
    ...HELP,
    data: { type: "string" },
    issue: { type: "string", multiple: true },
    stopped: { type: "string" },
    "dry-run": { type: "boolean" },
    "no-costs": { type: "boolean" },
    watch: { type: "boolean" },
    every: { type: "string" },
  },
  drain: { ...HELP, undo: { type: "boolean" }, reason: { type: "string" }, timeout: { type: "string" } },
  sweep: { ...CLUSTER, ...HELP, data: { type: "string" }, "older-than": { type: "string" }, delete: { type: "boolean" } },
  status: { ...CLUSTER, ...HELP },
  transcript: { ...HELP, data: { type: "string" } },
  policy: { ...HELP, output: { type: "string", short: "o" } },
} as const;

export type CommandName = keyof typeof OPTIONS;
export const COMMANDS = Object.keys(OPTIONS) as CommandName[];

/** What was asked for; throws a UsageError that says what is wrong with it. */
export function parseCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Command {
  const [first, ...rest] = argv;
  if (first === undefined || first === "help" || first === "--help" || first === "-h") return { name: "help", of: rest[0] ?? null };
  if (first === "--version" || first === "version") return { name: "version" };
  if (!isCommand(first)) throw new UsageError(`there is no command "${first}"; one of: ${COMMANDS.join(", ")}`);
  const { values: given, positionals } = read(first, rest);
  if (given.help) return { name: "help", of: first };
  switch (first) {
    case "recover":
      return recover(given, env);
    case "drain":
      return { name: first, undo: given.undo === true, reason: text(given.reason), timeoutSec: seconds("timeout", given.timeout, 30) };
    case "sweep":
      return sweep(given, env);
    case "status":
      return { name: first, cluster: clusterArguments(given) };
    case "transcript":
      return transcript(given, positionals, env);
    case "policy":
      return policy(given, positionals);
  }
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(OPTIONS, name);
type Given = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

function read(name: CommandName, args: string[]): { readonly values: Given; readonly positionals: readonly string[] } {
  try {
    const options: ParseArgsOptionsConfig = OPTIONS[name];
    return parseArgs({ args, options, strict: true, allowPositionals: name === "policy" || name === "transcript" });
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw new UsageError(`${problem}; see paperclip-k8s help ${name}`);
  }
}

function policy(given: Given, files: readonly string[]): Command {
  if (files.length > 1) throw new UsageError(`policy takes one file, not ${files.length}; see paperclip-k8s help policy`);
  const output = text(given.output);
  if (output !== null && output !== "json") throw new UsageError(`--output: "${output}" is not json`);
  return { name: "policy", file: files[0] === undefined ? null : resolve(files[0]), json: output === "json" };
}

function transcript(given: Given, runs: readonly string[], env: NodeJS.ProcessEnv): Command {
  const [run] = runs;
  if (run === undefined || runs.length > 1 || !/^[0-9a-zA-Z-]{4,}$/.test(run))
    throw new UsageError("transcript takes the id of one run, or how it begins; see paperclip-k8s help transcript");
  const { data, instance } = placeOf(given, env);
  if (data === null) throw new UsageError("transcript needs --data, or PAPERCLIP_HOME: the folder with the runs' files");
  return { name: "transcript", run, data, instance };
}

function sweep(given: Given, env: NodeJS.ProcessEnv): Command {
  return {
    name: "sweep",
    cluster: clusterArguments(given),
    ...placeOf(given, env),
    olderThanSec: seconds("older-than", given["older-than"], DAY_SEC),
    filesOlderThanSec: seconds("older-than", given["older-than"], 7 * DAY_SEC),
    delete: given.delete === true,
  };
}

function placeOf(given: Given, env: NodeJS.ProcessEnv): Place {
  const data = text(given.data) ?? (env.PAPERCLIP_HOME || null);
  return { data: data === null ? null : resolve(data), instance: env.PAPERCLIP_INSTANCE_ID || "default" };
}

function recover(given: Given, env: NodeJS.ProcessEnv): Command {
  if (given.every !== undefined && !given.watch) throw new UsageError("--every is about --watch, which is not given");
  const [issues, stopped] = [list(given.issue), text(given.stopped)];
  if (stopped !== null && issues.length === 0) throw new UsageError("--stopped is about --issue, which is not given");
  if (stopped !== null && stopped.trim().length < SENTENCE)
    throw new UsageError(`--stopped: "${stopped}" does not say how you know that the agent has stopped`);
  return {
    name: "recover",
    cluster: clusterArguments(given),
    host: hostArguments(given, env),
    ...placeOf(given, env),
    issues,
    stopped,
    dryRun: given["dry-run"] === true,
    costs: given["no-costs"] !== true,
    watch: given.watch ? seconds("every", given.every, 15) : null,
  };
}

/** The host keeps it as evidence, and the next run reads it. */
const SENTENCE = 10;

/** A key on the command line would stand in every process list: it comes from the environment. */
function hostArguments(given: Given, env: NodeJS.ProcessEnv): HostArguments {
  const local = env.PAPERCLIP_LISTEN_PORT ? `http://127.0.0.1:${env.PAPERCLIP_LISTEN_PORT}` : null;
  const url = text(given.url) ?? env.PAPERCLIP_API_URL ?? local ?? "http://127.0.0.1:3100";
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError(`--url: "${url}" is not an http address`);
  return { url, token: env.PAPERCLIP_API_KEY || null, company: text(given.company) };
}

function clusterArguments(given: Given): ClusterArguments {
  return { kubeconfig: text(given.kubeconfig), context: text(given.context), namespaces: list(given.namespace) };
}

const text = (value: Given[string]): string | null => (typeof value === "string" && value !== "" ? value : null);
const list = (value: Given[string]): string[] =>
  Array.isArray(value) ? value.flatMap((item) => String(item).split(",")).filter((item) => item !== "") : [];

const DAY_SEC = 86_400;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY_SEC };

/** "90", "90s", "15m", "24h", "7d". */
function seconds(name: string, value: Given[string], unset: number): number {
  if (value === undefined) return unset;
  const [, number, unit = "s"] = /^(\d+)([smhd]?)$/.exec(String(value)) ?? [];
  const found = Number(number) * (UNITS[unit || "s"] ?? Number.NaN);
  if (!Number.isFinite(found) || found <= 0) throw new UsageError(`--${name}: "${value}" is not a time like 90s, 15m, 24h or 7d`);
  return found;
}
