// Says what is wrong with a state spec: every path in it is used as it stands.
import { isAbsolute } from "node:path";
import { ownHome } from "../cli/own-home.ts";
import type { StatePart, StateSpec } from "../records.ts";

/** Throws errors with texts fit for the termination message. */
export function checkedState(given: StateSpec | null | undefined): StateSpec | null {
  if (given === null || given === undefined) return null;
  const state = { ...given, home: ownHome(given.home) };
  for (const name of ["saved", "home"] as const)
    if (typeof state[name] !== "string" || !isAbsolute(state[name])) throw new Error(`the spec's state.${name} is not an absolute path`);
  if (!Array.isArray(state.parts) || state.parts.length === 0 || !state.parts.every(isPart))
    throw new Error("the spec's state.parts are not paths below its home");
  for (const name of ["intervalSec", "maxBytes", "restoreSec", "saveSec"] as const)
    if (typeof state[name] !== "number" || !(state[name] >= 0)) throw new Error(`the spec's state.${name} is not a number`);
  const { version } = state;
  const isCommand = Array.isArray(version) && version.length > 0 && version.every((part) => typeof part === "string");
  if (version !== null && typeof version !== "string" && !isCommand) throw new Error("the spec's state.version is no text and no command");
  return state;
}

const isPart = (part: StatePart | null): boolean =>
  (part?.kind === "sqlite" || part?.kind === "files") && typeof part.path === "string" && part.path.split("/").every(isPlainName);

const isPlainName = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !name.includes("\0");
