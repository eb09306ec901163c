import { normalize } from "node:path/posix";
import { type ImportAnswer, type ImportProgress, type ImportSource, importState, withVolume } from "@paperclip-k8s/engine";
import { isBelow, recordOf, textOf } from "../../host/context-values.ts";
import { recordSecret } from "../../host/record-secret.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import { ConfigError } from "../../settings/config-error.ts";
import type { RunParts } from "../attempt.ts";
import { workingFolder } from "../environment/workspace.ts";
import { podOwner } from "../pod.ts";
import { earlierSession } from "../session.ts";
import { claimOfEarlierSession } from "./agent-claim.ts";
import { earlierJobsEnded, type Importing } from "./earlier-jobs.ts";
import { type KeptState, keptState } from "./kept-state.ts";

type Portable = Extract<KeptState, { mode: "portable" }>;

/** The database of a shared HOME has the sessions of all agents; all of it is copied to the server's disk. */
const MAX_DATABASE_BYTES = 4 * 1024 ** 3;
const PREPARE_TIMEOUT_MS = 30_000;
const LOG_EVERY_MS = 15_000;

/**
 * Where the run's session is kept. A session that an adapter before this one made, and that no run of this one has saved yet, is imported first: once,
 * because from its first end on the host's record of the session says where it is kept.
 */
export async function stateOfRun(parts: RunParts, importing: Importing): Promise<KeptState> {
  const state = keptState(parts);
  const sessionId = earlierSession(parts.ctx.runtime);
  if (state.mode !== "portable" || sessionId === null || parts.cli.sessionId?.test(sessionId) === false) return state;
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
  const { ctx, cli, config, inherited, serverEnv } = parts;
  const sources = cli.state?.imports?.({
    sessionId,
    cwd: workingFolder(parts),
    madeIn: textOf(recordOf(ctx.runtime.sessionParams).cwd),
    dataPath: config.dataPath,
    volume: inherited.claim.mountPath,
    companyId: ctx.agent.companyId,
    agentId: ctx.agent.id,
    taskKey: textOf(ctx.runtime.taskKey),
    env: config.env,
    serverEnv,
    note,
  });
  return (sources ?? []).filter(({ path }) => normalize(path) === path && isBelow(path, inherited.claim.mountPath));
}

async function runImport(
  { ctx, config, inherited, serverEnv }: RunParts,
  { spec }: Portable,
  sources: readonly ImportSource[],
  sessionId: string,
  { log, signal }: Importing,
): Promise<ImportAnswer | null> {
  const root = inherited.claim.mountPath;
  const owner = podOwner();
  await withVolume(root, (volume) => volume.run("prepare", { paths: [], folders: [spec.saved], owner }, PREPARE_TIMEOUT_MS)).catch(
    (error: Error) => {
      throw new UnusableVolume(`the folder for the session of this task cannot be made: ${error.message}`, { cause: error });
    },
  );
  const secret = await recordSecret(serverEnv, config);
  let last: ImportProgress = { step: "volume", bytes: 0 };
  const timer = setInterval(() => log(waiting(sessionId, last)), LOG_EVERY_MS);
  try {
    const { saved, parts, maxBytes } = spec;
    return await importState(
      { root, sources, saved, parts, run: ctx.runId, maxBytes, maxDatabaseBytes: MAX_DATABASE_BYTES, owner, recordSecret: secret },
      {
        signal: await signal(),
        onProgress: (progress) => {
          last = progress;
        },
      },
    );
  } finally {
    clearInterval(timer);
  }
}

const waiting = (sessionId: string, { step, bytes }: ImportProgress): string =>
  `waiting for session ${sessionId} of an earlier adapter to be imported: ${bytes} bytes ${step === "volume" ? "copied" : "taken"} so far`;
