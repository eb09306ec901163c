// Copies named files and folders into the run's private home, as far as they are there and can be read.
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canEndAnyway, closeFile, namesOf, openFile, readSome, realPath, statFile } from "../file-calls.ts";
import { answerWithin, startTask, taskHere } from "../file-task.ts";
import { writeAll } from "../files.ts";
import type { LeftOut, Seed, SeedSpec } from "../records.ts";
import { type FoundFile, findFiles } from "./find-files.ts";
import { LARGEST_EDITED, withoutEntries } from "./leave-out.ts";

export interface SeedCommand extends SeedSpec {
  readonly kind: "seed";
}

export interface SeedAnswer {
  readonly kind: "seeded";
  readonly taken: readonly string[];
  /** Why others were not, one line each. */
  readonly problems: readonly string[];
  /** What was left out of those that were taken, one line each. */
  readonly leftOut: readonly string[];
}

/** A slower volume delays the run no further; its problems are logged elsewhere. */
const TIMEOUT_MS = 20_000;

/** Seeds the home beside the runner's other work; what was taken and what was not, as notes. Nothing here keeps the CLI from starting. */
export async function takeSeeds(runnerFile: string, seed: SeedSpec, isStopped: () => boolean): Promise<string[]> {
  const deadline = performance.now() + TIMEOUT_MS;
  const command: SeedCommand = { kind: "seed", ...seed };
  const task = canEndAnyway()
    ? taskHere<SeedAnswer>((isAbandoned) => seedHome(command, isAbandoned))
    : startTask<SeedAnswer>(runnerFile, command);
  const answer = await answerWithin(task, () => (isStopped() ? 0 : deadline - performance.now()));
  const from = seed.secret === undefined ? seed.from : `Secret ${seed.secret}`;
  if (answer === null) return [`nothing was taken over from ${from}: no answer within ${TIMEOUT_MS / 1000} s`];
  if (answer.kind === "failed") return [`nothing was taken over from ${from}: ${answer.error}`];
  const { taken, problems, leftOut } = answer;
  if (taken.length + problems.length === 0) return [`nothing was taken over from ${from}: it is not there, or empty`];
  return [
    ...(taken.length === 0 ? [] : [`taken over from ${from}: ${taken.join(", ")}`]),
    ...(problems.length === 0 ? [] : [`not taken over from ${from}: ${problems.join(", ")}`]),
    ...(leftOut.length === 0 ? [] : [`left out of what was taken over from ${from}: ${leftOut.join(", ")}`]),
  ];
}

/** The home is the pod's own: only calls on what is copied may take long. */
export async function seedHome(command: SeedCommand, isAbandoned: () => boolean = () => false): Promise<SeedAnswer> {
  const { from, home, files, secret, maxBytes } = command;
  const taken: string[] = [];
  const problems: string[] = [];
  const leftOut: string[] = [];
  const top = await realPath(from);
  let left = maxBytes;
  for (const seed of secret === undefined ? files.map(plain) : await seedsOfKeys(top, files)) {
    try {
      const done = await takeOne(seed, { top, home, left, isAbandoned });
      if (done === null) continue;
      left -= done.bytes;
      taken.push(seed.path);
      leftOut.push(...done.leftOut);
    } catch (error) {
      if (isAbandoned()) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      problems.push(`${seed.path} (${code ?? message})`);
    }
  }
  return { kind: "seeded", taken, problems, leftOut };
}

interface OneSeed {
  /** As it is called in messages: its path in a home. */
  readonly path: string;
  /** Where it is, below the folder that seeds come from. */
  readonly at: string;
  /** Where it goes, below the home. */
  readonly to: string;
  /** Its mode there; null = the one it has. */
  readonly mode: number | null;
  /** Entries of JSON files that are not copied. */
  readonly without: readonly LeftOut[];
}

const plain = ({ path, to = path, without = [] }: Seed): OneSeed => ({ path, at: path, to, mode: null, without });

/** The keys of a Secret cannot have a slash: two underscores stand for one. Keys that would lead out of the home are not taken. Somebody has put them there on purpose: nothing is left out of them. */
async function seedsOfKeys(top: string, files: readonly Seed[]): Promise<OneSeed[]> {
  const keys = (await namesOf(top)).filter((name) => !name.startsWith(".."));
  return keys.sort().flatMap((key) => {
    const path = key.replaceAll("__", "/");
    if (path.split("/").some((part) => part === "" || part === "." || part === "..")) return [];
    const known = files.find((seed) => path === seed.path || path.startsWith(`${seed.path}/`));
    const to = known?.to === undefined ? path : `${known.to}${path.slice(known.path.length)}`;
    return [{ path, at: key, to, mode: 0o600, without: [] }];
  });
}

interface Taken {
  readonly bytes: number;
  readonly leftOut: readonly string[];
}

interface Place {
  readonly top: string;
  readonly home: string;
  readonly left: number;
  readonly isAbandoned: () => boolean;
}

/** Null when it is not there. If a part of it cannot be read, all of it is removed again. */
async function takeOne({ path, at, to, mode, without }: OneSeed, { top, home, left, isAbandoned }: Place): Promise<Taken | null> {
  const files = await findFiles(top, join(top, at));
  if (files === null) return null;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > left) throw new Error(`${bytes} bytes, too large`);
  const target = join(home, to);
  const leftOut: string[] = [];
  try {
    for (const file of files) {
      const copied = join(target, file.path);
      await copy(file, copied, mode ?? file.mode, isAbandoned);
      const rules = without.filter((rule) => rule.file === file.path);
      leftOut.push(...edit(copied, rules).map((entry) => `${join(path, file.path)}: ${entry}`));
    }
  } catch (error) {
    if (!isAbandoned()) rmSync(target, { recursive: true, force: true });
    throw error;
  }
  return { bytes, leftOut };
}

/** Takes entries out of the copy, which nobody else can write to any more; the file it was made from is not touched. */
function edit(file: string, rules: readonly LeftOut[]): readonly string[] {
  const { size, mode } = statSync(file);
  if (rules.length === 0 || size > LARGEST_EDITED) return [];
  const { text, left } = withoutEntries(readFileSync(file, "utf8"), rules);
  if (text === null) return [];
  // Its mode may be that of a file which nobody writes to.
  rmSync(file);
  writeFileSync(file, text, { flag: "wx", mode: mode & 0o777 });
  return left;
}

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Copies only as many bytes as the file had when it was found, because it may have grown or been replaced since then. */
async function copy({ real, size }: FoundFile, target: string, mode: number, isAbandoned: () => boolean): Promise<void> {
  const source = await openFile(real, READ_FLAGS, 0);
  try {
    if (!(await statFile(source)).isFile()) throw new Error(`${real} is no file any more`);
    if (isAbandoned()) throw new Error("given up");
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    rmSync(target, { force: true });
    const made = openSync(target, "wx", mode);
    try {
      const chunk = Buffer.alloc(Math.min(size, 64 * 1024));
      for (let left = size; left > 0; ) {
        const count = await readSome(source, chunk, 0, Math.min(left, chunk.length), null);
        if (isAbandoned()) throw new Error("given up");
        if (count === 0) break;
        writeAll(made, chunk.subarray(0, count));
        left -= count;
      }
    } finally {
      closeSync(made);
    }
  } finally {
    await closeFile(source);
  }
}
