// Reads what the runner is told; no error from here quotes the spec, for it holds secrets.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { WAITS, type Waits } from "./cli/waits.ts";
import type { Argument, RunnerSpec } from "./records.ts";
import { type RelayOrder, readRelay } from "./relay/read-relay.ts";
import { checkedSeed } from "./seed/check-seed-spec.ts";
import { checkedState } from "./state/check-state-spec.ts";

export interface Order {
  readonly spec: RunnerSpec;
  readonly argv: readonly [string, ...string[]];
  readonly stdin: Buffer | null;
  readonly pattern: RegExp | null;
  readonly takenBackBy: RegExp | null;
  readonly relay: RelayOrder | null;
  readonly waits: Waits;
}

/** Throws errors with texts fit for the termination message. */
export function readOrder(runnerFile: string): Order {
  const folder = dirname(runnerFile);
  const spec = parse(load(join(folder, "spec.json"), "the spec"));
  const stdin = spec.stdinFile === null ? null : load(join(folder, spec.stdinFile), "the stdin file");
  const [program, ...args] = spec.argv;
  const argv = [program, ...args.map((arg) => (typeof arg === "string" ? arg : join(folder, arg.file)))] as const;
  const pattern = compile(spec.finalLine?.pattern);
  const takenBackBy = compile(spec.finalLine?.takenBackBy);
  const relay = readRelay(spec.relay, folder);
  return { spec, argv, stdin, pattern, takenBackBy, relay, waits: { ...WAITS, ...(spec as { waits?: Partial<Waits> }).waits } };
}

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
  if (typeof spec.run !== "string" || typeof spec.nonce !== "string" || !spec.files?.output || !spec.files.meta || !spec.files.claim)
    throw new Error("the spec names no run or no files");
  for (const name of ["timeoutSec", "graceSec", "stopGraceSec", "drainSec"] as const) {
    const seconds = spec[name];
    if (typeof seconds !== "number" || !(seconds >= 0)) throw new Error(`the spec's ${name} is not a number of seconds`);
  }
  const { env = {}, stdinFile = null, finalLine = null } = spec;
  return { ...(spec as RunnerSpec), env, stdinFile, finalLine, seed: checkedSeed(spec.seed), state: checkedState(spec.state) };
}

const isArgument = (part: Argument | null): boolean => typeof part === "string" || typeof part?.file === "string";

function compile(pattern: string | undefined): RegExp | null {
  try {
    return pattern === undefined ? null : new RegExp(pattern);
  } catch {
    throw new Error("the spec's final-line pattern is not a regular expression");
  }
}
