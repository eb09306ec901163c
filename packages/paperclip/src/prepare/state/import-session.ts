import { normalize } from "node:path/posix";
import type { ImportAnswer, ImportSource } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import { ConfigError } from "../../settings/config-error.ts";
import type { RunParts } from "../attempt.ts";
import { earlierSession } from "../session.ts";
import { claimOfEarlierSession } from "./agent-claim.ts";
import { builtInState } from "./built-in-session.ts";
import { earlierJobsEnded, type Importing } from "./earlier-jobs.ts";
import { type KeptState, keptState } from "./kept-state.ts";
import { runImport, sessionFacts } from "./run-import.ts";

type Portable = Extract<KeptState, { mode: "portable" }>;

/**
 * Where the run's session is kept. A session that an adapter before this one made, and that no run of this one has saved yet, is imported first: once,
 * because from its first end on the host's record of the session says where it is kept.
 */
export async function stateOfRun(parts: RunParts, importing: Importing): Promise<KeptState> {
  const state = keptState(parts);
  const sessionId = earlierSession(parts.ctx.runtime);
  if (state.mode !== "portable" || sessionId === null || parts.cli.sessionId?.test(sessionId) === false) return state;
  if (parts.cli.inPlace !== undefined) return builtInState(parts, state, sessionId, importing);
  const sources = sourcesOf(parts, sessionId, importing.log);
  if (sources.length > 0) await earlierJobsEnded(parts, sessionId, importing);
  const answer = sources.length === 0 ? NOTHING : await runImport(parts, state, sources, sessionId, importing);
  return concluded(answer, state, sessionId, parts, importing.log);
}

const NOTHING: ImportAnswer = { kind: "not-found", places: [] };

async function concluded(
  answer: ImportAnswer | null,
  state: Portable,
  sessionId: string,
  parts: RunParts,
  log: Importing["log"],
): Promise<KeptState> {
  const remedy = `To start a fresh session instead, reset the session of this task at the host`;
  switch (answer?.kind) {
    case undefined:
      return state;
    case "seen":
    case "saved-already":
      return { ...state, earlier: { lost: null } };
    case "imported": {
      const what = answer.rows > 0 ? `${answer.rows} rows` : `${answer.files} files`;
      log(`session ${sessionId} of an earlier adapter goes on: imported from ${answer.from} (${what}, ${answer.bytes} bytes)`);
      // What is there now is signed.
      return { ...state, spec: { ...state.spec, acceptUnsigned: false }, earlier: { lost: null } };
    }
    case "unfit":
      return { ...state, earlier: { lost: answer.reason } };
    case "blocked":
      throw new ConfigError("session", `session ${sessionId} of an earlier adapter cannot be imported yet: ${answer.reason}. ${remedy}`);
    case "stalled":
      throw new UnusableVolume(`session ${sessionId} of an earlier adapter cannot be imported: ${answer.reason}`);
    case "not-found": {
      const onClaim = await claimOfEarlierSession(parts, sessionId);
      if (onClaim !== null) {
        log(onClaim.note);
        return onClaim.state;
      }
      if (answer.places.length > 0)
        log(`session ${sessionId} of an earlier adapter is in none of these places: ${answer.places.join(", ")}`);
      return state;
    }
  }
}

/** Only what is on the volume; paths of the agent's own settings are among them. */
function sourcesOf(parts: RunParts, sessionId: string, note: Importing["log"]): ImportSource[] {
  const { cli, inherited } = parts;
  const sources = cli.state?.imports?.(sessionFacts(parts, sessionId, note));
  return (sources ?? []).filter(({ path }) => normalize(path) === path && isBelow(path, inherited.claim.mountPath));
}
