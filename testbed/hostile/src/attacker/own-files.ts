import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attacks, type Attempted, wrote } from "./attack.ts";
import { ownSpec } from "./own-run.ts";

// An agent can put something else in the place of its own run's files, which the server reads.

const MUST = "the run ends; the server reads nothing else, and neither hangs nor fills its memory";
type Files = ReturnType<typeof ownSpec>["files"];

const replacing = (
  file: "output" | "meta",
  what: string,
  put: (path: string, aim: Readonly<Record<string, string>>) => void,
): Attacks[string] => ({
  tries: `puts ${what} in the place of its ${file === "output" ? "output file" : "file of records"}`,
  must: MUST,
  attack: (aim) => {
    const path: string = (ownSpec().files as Files)[file];
    rmSync(path, { force: true });
    put(path, aim);
    return wrote(what);
  },
});

const fifo = (path: string): void => void spawnSync("mkfifo", [path]);
const endless = (path: string): void => symlinkSync("/dev/zero", path);
const hostFile = (path: string, { config = "" }: Readonly<Record<string, string>>): void => symlinkSync(config, path);
const sparse = (path: string): void => {
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
};

/** The server opens the file again and again while it changes between a plain file and a link to the host's. */
async function swap(aim: Readonly<Record<string, string>>): Promise<Attempted> {
  const { output } = ownSpec().files;
  for (let round = 0; round < 300; round++) {
    writeFileSync(`${output}.plain`, `round ${round}\n`);
    renameSync(`${output}.plain`, output);
    symlinkSync(aim.config ?? "", `${output}.link`);
    renameSync(`${output}.link`, output);
    if (round % 10 === 0) await sleep(1);
  }
  return wrote("300 links and files in turn");
}

export const ownFiles: Attacks = {
  "own-files/output-fifo": replacing("output", "a FIFO", fifo),
  "own-files/output-folder": replacing("output", "a folder", (path) => void mkdirSync(path)),
  "own-files/output-device": replacing("output", "a link to an endless device", endless),
  "own-files/output-link": replacing("output", "a link to the host's config.json", hostFile),
  "own-files/output-sparse": replacing("output", "a sparse file of 1 TiB", sparse),
  "own-files/output-gone": replacing("output", "nothing", () => {}),
  "own-files/meta-fifo": replacing("meta", "a FIFO", fifo),
  "own-files/meta-folder": replacing("meta", "a folder", (path) => void mkdirSync(path)),
  "own-files/meta-device": replacing("meta", "a link to an endless device", endless),
  "own-files/meta-link": replacing("meta", "a link to the host's config.json", hostFile),
  "own-files/meta-sparse": replacing("meta", "a sparse file of 1 TiB", sparse),
  "own-files/meta-gone": replacing("meta", "nothing", () => {}),
  "own-files/output-shrinks": {
    tries: "truncates its output file while it is read",
    must: MUST,
    attack: () => {
      truncateSync(ownSpec().files.output, 0);
      return wrote("0 bytes");
    },
  },
  "own-files/swap": {
    tries: "swaps its output file for a link to the host's config.json, 300 times",
    must: MUST,
    attack: (aim) => swap(aim),
  },
};
