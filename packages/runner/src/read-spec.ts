// Reads what the runner is told; no error from here quotes the spec, for it holds secrets.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunnerSpec } from "./records.ts";
import { WAITS, type Waits } from "./waits.ts";

export interface Order {
  readonly spec: RunnerSpec;
  readonly stdin: Buffer | null;
  readonly pattern: RegExp | null;
  readonly waits: Waits;
}

/** Throws errors with texts fit for the termination message. */
export function readOrder(runnerFile: string): Order {
  const folder = dirname(runnerFile);
  const spec = parse(load(join(folder, "spec.json"), "the spec"));
  const stdin = spec.stdinFile === null ? null : load(join(folder, spec.stdinFile), "the stdin file");
  return { spec, stdin, pattern: compile(spec), waits: { ...WAITS, ...(spec as { waits?: Partial<Waits> }).waits } };
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
  if (!Array.isArray(spec.argv) || spec.argv.length === 0 || !spec.argv.every((part) => typeof part === "string"))
    throw new Error("the spec names no command");
  if (typeof spec.run !== "string" || typeof spec.nonce !== "string" || !spec.files?.output || !spec.files.meta || !spec.files.claim)
    throw new Error("the spec names no run or no files");
  for (const name of ["timeoutSec", "graceSec", "stopGraceSec", "drainSec"] as const) {
    const seconds = spec[name];
    if (typeof seconds !== "number" || !(seconds >= 0)) throw new Error(`the spec's ${name} is not a number of seconds`);
  }
  return { ...(spec as RunnerSpec), env: spec.env ?? {}, stdinFile: spec.stdinFile ?? null, finalLine: spec.finalLine ?? null };
}

function compile(spec: RunnerSpec): RegExp | null {
  try {
    return spec.finalLine ? new RegExp(spec.finalLine.pattern) : null;
  } catch {
    throw new Error("the spec's final-line pattern is not a regular expression");
  }
}
