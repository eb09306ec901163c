import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProgramName } from "./programs.ts";

/** Programs that a test has stopped or held: only the test may start them again. A file for each, since the tests are other processes than the one that watches the node. */
const fileOf = (dir: string, name: ProgramName): string => join(dir, "stopped", name);

export function noteStopped(dir: string, name: ProgramName): void {
  mkdirSync(join(dir, "stopped"), { recursive: true });
  writeFileSync(fileOf(dir, name), "");
}

export const noteStarted = (dir: string, name: ProgramName): void => rmSync(fileOf(dir, name), { force: true });

export const isStoppedByTest = (dir: string, name: ProgramName): boolean => existsSync(fileOf(dir, name));
