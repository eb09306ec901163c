import { resolve } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { ClusterArguments } from "../cluster/access.ts";
import { type CollectToolsCommand, collectToolsCommand } from "./collect-tools.ts";
import { type HostArguments, hostArguments } from "./host.ts";
import { type RecoverCommand, recoverCommand } from "./recover.ts";
import { type TranscriptCommand, transcriptCommand } from "./transcript.ts";
import { type UpgradeCheckCommand, upgradeCheckCommand } from "./upgrade-check.ts";
import { clusterArguments, DAY_SEC, type Given, isJson, type Place, placeOf, seconds, text, UsageError } from "./values.ts";

export type Command =
  | { readonly name: "help"; readonly of: string | null }
  | { readonly name: "version" }
  | RecoverCommand
  | { readonly name: "drain"; readonly undo: boolean; readonly reason: string | null; readonly timeoutSec: number }
  | (Place & {
      readonly name: "sweep";
      readonly cluster: ClusterArguments;
      readonly olderThanSec: number;
      readonly filesOlderThanSec: number;
      readonly delete: boolean;
    })
  | { readonly name: "status"; readonly cluster: ClusterArguments; readonly host: HostArguments }
  | (Place & { readonly name: "check-adapters" })
  | TranscriptCommand
  | CollectToolsCommand
  | UpgradeCheckCommand
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
const OUTPUT = { output: { type: "string", short: "o" } } as const;
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
  status: { ...CLUSTER, ...HELP, url: HOST.url },
  transcript: { ...HELP, data: { type: "string" } },
  "collect-tools": { ...HELP, node: { type: "string" }, cli: { type: "string", multiple: true }, mount: { type: "string" } },
  policy: { ...HELP, ...OUTPUT },
  "check-adapters": { ...HELP, data: { type: "string" } },
  "upgrade-check": { ...CLUSTER, ...HOST, ...HELP, ...OUTPUT, policy: { type: "string" }, "server-namespace": { type: "string" } },
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
      return recoverCommand(given, env);
    case "drain":
      return { name: first, undo: given.undo === true, reason: text(given.reason), timeoutSec: seconds("timeout", given.timeout, 30) };
    case "sweep":
      return sweep(given, env);
    case "status":
      return { name: first, cluster: clusterArguments(given), host: hostArguments(given, env) };
    case "transcript":
      return transcriptCommand(given, positionals, env);
    case "collect-tools":
      return collectToolsCommand(given, positionals);
    case "policy":
      return policy(given, positionals);
    case "check-adapters":
      return { name: first, ...placeOf(given, env) };
    case "upgrade-check":
      return upgradeCheckCommand(given, env);
  }
}

const isCommand = (name: string): name is CommandName => Object.hasOwn(OPTIONS, name);
/** Commands that are given something besides options. */
const WITH_NAMES: readonly CommandName[] = ["policy", "transcript", "collect-tools"];

function read(name: CommandName, args: string[]): { readonly values: Given; readonly positionals: readonly string[] } {
  try {
    const options: ParseArgsOptionsConfig = OPTIONS[name];
    return parseArgs({ args, options, strict: true, allowPositionals: WITH_NAMES.includes(name) });
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw new UsageError(`${problem}; see paperclip-k8s help ${name}`);
  }
}

function policy(given: Given, files: readonly string[]): Command {
  if (files.length > 1) throw new UsageError(`policy takes one file, not ${files.length}; see paperclip-k8s help policy`);
  return { name: "policy", file: files[0] === undefined ? null : resolve(files[0]), json: isJson(given) };
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
