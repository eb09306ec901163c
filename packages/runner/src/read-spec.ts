// Reads what the runner is given; no error from here quotes the spec, for it holds secrets.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { WAITS, type Waits } from "./limits.ts";
import type { Argument, CliDefaults, RunnerSpec, SeedSpec, StateSpec } from "./records.ts";
import { type RelayConfig, readRelay } from "./relay/read-relay.ts";

export interface RunnerConfig {
  readonly spec: RunnerSpec;
  readonly argv: readonly [string, ...string[]];
  readonly stdin: Buffer | null;
  readonly finalLine: RegExp | null;
  readonly takenBackBy: RegExp | null;
  readonly relay: RelayConfig | null;
  readonly defaults: readonly ResolvedDefaults[];
  /** Of the MACs of this run's records; null = they are not signed. */
  readonly key: Buffer | null;
  /** Where the spec is: the mounted Secret. */
  readonly folder: string;
  readonly waits: Waits;
}

/** With the paths of files in the pod. */
export type ResolvedDefaults = CliDefaults & { readonly env: Readonly<Record<string, string>> };

/** Throws errors with texts fit for the termination message. */
export function readConfig(runnerFile: string): RunnerConfig {
  const folder = dirname(runnerFile);
  const spec = parse(load(join(folder, "spec.json"), "the spec"));
  const stdin = spec.stdinFile === null ? null : load(join(folder, spec.stdinFile), "the stdin file");
  const [program, ...args] = spec.argv;
  const argv = [program, ...args.map((arg) => argumentIn(folder, arg))] as const;
  const finalLine = compile(spec.finalLine?.pattern);
  const takenBackBy = compile(spec.finalLine?.takenBackBy);
  const relay = readRelay(spec.relay, folder);
  const defaults = (spec.defaults ?? []).map((given) => readDefaults(given, folder));
  const key = keyOf(spec.key);
  const waits = { ...WAITS, ...(spec as { waits?: Partial<Waits> }).waits };
  return { spec, argv, stdin, finalLine, takenBackBy, relay, defaults, key, folder, waits };
}

const argumentIn = (folder: string, arg: Argument): string => (typeof arg === "string" ? arg : join(folder, arg.file));

function load(file: string, name: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${name} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function parse(bytes: Buffer): RunnerSpec {
  let spec: Partial<RunnerSpec> | null;
  try {
    spec = JSON.parse(bytes.toString()) as Partial<RunnerSpec> | null;
  } catch {
    throw new Error("the spec is not JSON");
  }
  if (spec?.format !== 1) throw new Error("the spec has a format this runner does not know");
  if (!Array.isArray(spec.argv) || spec.argv.length === 0 || typeof spec.argv[0] !== "string" || !spec.argv.every(isArgument))
    throw new Error("the spec names no command");
  if (typeof spec.run !== "string" || typeof spec.nonce !== "string" || !spec.files?.output || !spec.files.meta || !spec.files.lock)
    throw new Error("the spec names no run or no files");
  for (const name of ["timeoutSec", "graceSec", "stopGraceSec", "drainSec"] as const)
    if (!isAmount(spec[name])) throw new Error(`the spec's ${name} is not a number of seconds`);
  if (spec.volumeWaitSec !== undefined && !isAmount(spec.volumeWaitSec))
    throw new Error("the spec's volumeWaitSec is not a number of seconds");
  if (spec.outputBytes !== undefined && !isAmount(spec.outputBytes)) throw new Error("the spec's outputBytes is not a number of bytes");
  if (spec.path !== undefined && !(Array.isArray(spec.path) && spec.path.every(isFolder)))
    throw new Error("the spec's path is not a list of folders");
  if (!Object.entries(spec.programs ?? {}).every(([name, program]) => isBelow(name) && isBelow(program?.file)))
    throw new Error("the spec's programs are not names of files");
  const { env = {}, stdinFile = null, finalLine = null } = spec;
  return {
    ...(spec as RunnerSpec),
    env,
    stdinFile,
    finalLine,
    seed: checkedSeed(spec.seed),
    state: checkedState(spec.state),
  };
}

export function checkedSeed(given: SeedSpec | null | undefined): SeedSpec | null {
  if (given === null || given === undefined) return null;
  const seed = { ...given, home: homePath(given.home) };
  for (const name of ["from", "home"] as const)
    if (!isFolder(seed[name])) throw new Error(`the spec's seed.${name} is not an absolute path`);
  if (!Array.isArray(seed.files) || !seed.files.every(({ path, to = path }) => isBelow(path) && isBelow(to)))
    throw new Error("the spec's seed.files are not paths below its folders");
  if (
    !seed.files.every(
      ({ without = [] }) => Array.isArray(without) && without.every(({ file, at }) => typeof file === "string" && Array.isArray(at)),
    )
  )
    throw new Error("the spec's seed.files name no entries to leave out");
  if (seed.secret !== undefined && typeof seed.secret !== "string") throw new Error("the spec's seed.secret is not a name");
  if (!isAmount(seed.maxBytes)) throw new Error("the spec's seed.maxBytes is not a number");
  return seed;
}

function readDefaults(given: CliDefaults, folder: string): ResolvedDefaults {
  const { unless, unlessSet = [], env = {}, files = {} } = given;
  if (!Array.isArray(unless) || !unless.every((path) => isFolder(path) || isBelow(path)))
    throw new Error("the spec's defaults.unless are not paths");
  if (!Array.isArray(unlessSet) || !unlessSet.every((name) => typeof name === "string"))
    throw new Error("the spec's defaults.unlessSet are not names");
  if (!Object.keys(files).every(isBelow)) throw new Error("the spec's defaults.files are not paths below the home");
  if (!Object.values(env).every(isArgument) || !Object.values(files).every((text) => typeof text === "string"))
    throw new Error("the spec's defaults are not texts");
  const values = Object.entries(env).map(([name, value]) => [name, argumentIn(folder, value)]);
  return { unless, unlessSet, env: Object.fromEntries(values), files };
}

function checkedState(given: StateSpec | null | undefined): StateSpec | null {
  if (given === null || given === undefined) return null;
  const state = { ...given, home: homePath(given.home) };
  for (const name of ["saved", "home"] as const)
    if (!isFolder(state[name])) throw new Error(`the spec's state.${name} is not an absolute path`);
  const kinds: readonly unknown[] = ["sqlite", "files"];
  if (
    !Array.isArray(state.parts) ||
    state.parts.length === 0 ||
    !state.parts.every((part) => kinds.includes(part?.kind) && isBelow(part.path))
  )
    throw new Error("the spec's state.parts are not paths below its home");
  for (const name of ["intervalSec", "maxBytes", "restoreSec", "saveSec"] as const)
    if (!isAmount(state[name])) throw new Error(`the spec's state.${name} is not a number`);
  const { version } = state;
  const isCommand = Array.isArray(version) && version.length > 0 && version.every((part) => typeof part === "string");
  if (version !== null && typeof version !== "string" && !isCommand) throw new Error("the spec's state.version is no text and no command");
  return state;
}

const KEY_BYTES = 32;

function keyOf(text: unknown): Buffer | null {
  if (text === undefined) return null;
  const key = Buffer.from(typeof text === "string" ? text : "", "base64url");
  if (key.length !== KEY_BYTES) throw new Error("the spec's key is not one of 32 bytes in base64url");
  return key;
}

/** A spec may leave it to the pod where its home is. */
const homePath = (home: string): string => (home === "$HOME" ? (process.env.HOME ?? "") : home);
const isFolder = (path: unknown): boolean => typeof path === "string" && isAbsolute(path);
const isBelow = (path: unknown): boolean =>
  typeof path === "string" && path.split("/").every((name) => !["", ".", ".."].includes(name) && !name.includes("\0"));
const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isArgument = (part: Argument | null): boolean => typeof part === "string" || typeof part?.file === "string";

function compile(pattern: string | undefined): RegExp | null {
  try {
    return pattern === undefined ? null : new RegExp(pattern);
  } catch {
    throw new Error("the spec's final-line pattern is not a regular expression");
  }
}
