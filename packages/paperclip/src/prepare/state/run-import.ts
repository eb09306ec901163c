import { type ImportAnswer, type ImportProgress, type ImportSource, importState, messageOf, withVolume } from "@paperclip-k8s/engine";
import type { EarlierSession } from "../../agent-cli/agent-cli.ts";
import { recordOf, textOf } from "../../host/context-values.ts";
import { recordSecret } from "../../host/record-secret.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import type { RunParts } from "../attempt.ts";
import { workingFolder } from "../environment/workspace.ts";
import { podOwner } from "../pod.ts";
import type { Importing } from "./earlier-jobs.ts";
import type { KeptState } from "./kept-state.ts";

type Portable = Extract<KeptState, { mode: "portable" }>;

/** The database of a shared HOME has the sessions of all agents; all of it is copied to the server's disk. */
const MAX_DATABASE_BYTES = 4 * 1024 ** 3;
const PREPARE_TIMEOUT_MS = 30_000;
const LOG_EVERY_MS = 15_000;

/** What is known about a session of another adapter. */
export function sessionFacts(parts: RunParts, sessionId: string, note: Importing["log"]): EarlierSession {
  const { ctx, config, inherited, serverEnv } = parts;
  return {
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
  };
}

/** Imports a session into a state that no run has saved yet, or only looks for it. Null = the run is not wanted any more. */
export async function runImport(
  { ctx, config, inherited, serverEnv }: RunParts,
  { spec }: Portable,
  sources: readonly ImportSource[],
  sessionId: string,
  { log, signal }: Importing,
  onlyLook = false,
): Promise<ImportAnswer | null> {
  const root = inherited.claim.mountPath;
  const owner = podOwner();
  if (!onlyLook) await makeFolder(root, spec.saved, owner);
  const secret = await recordSecret(serverEnv, config);
  let last: ImportProgress = { step: "volume", bytes: 0 };
  const timer = setInterval(() => log(waiting(sessionId, last)), LOG_EVERY_MS);
  try {
    const { saved, parts, maxBytes } = spec;
    return await importState(
      {
        root,
        sources,
        onlyLook,
        saved,
        parts,
        run: ctx.runId,
        maxBytes,
        maxDatabaseBytes: MAX_DATABASE_BYTES,
        owner,
        recordSecret: secret,
      },
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

async function makeFolder(root: string, folder: string, owner: ReturnType<typeof podOwner>): Promise<void> {
  try {
    await withVolume(root, (volume) => volume.run("prepare", { paths: [], folders: [folder], owner }, PREPARE_TIMEOUT_MS));
  } catch (error) {
    throw new UnusableVolume(`the folder for the session of this task cannot be made: ${messageOf(error)}`, { cause: error });
  }
}

const waiting = (sessionId: string, { step, bytes }: ImportProgress): string =>
  `waiting for session ${sessionId} of another adapter to be imported: ${bytes} bytes ${step === "volume" ? "copied" : "taken"} so far`;
