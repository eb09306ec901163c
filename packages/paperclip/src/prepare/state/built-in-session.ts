import { homedir } from "node:os";
import { type ImportAnswer, withVolume } from "@paperclip-k8s/engine";
import { issueOf } from "../../host/issue.ts";
import { UnusableVolume } from "../../host/unusable-volume.ts";
import { sha256 } from "../../sha256.ts";
import type { RunParts } from "../attempt.ts";
import type { Importing } from "./earlier-jobs.ts";
import { type KeptState, portable } from "./kept-state.ts";
import { runImport, sessionFacts } from "./run-import.ts";

type Portable = Extract<KeptState, { mode: "portable" }>;

const LOOK_MS = 10_000;

/**
 * Where the session is that the host's built-in adapter has stored last:
 * - In the server's home: copied into a state of its own. That state's name has the time of the copy's source, so that a session with which both
 *   adapters have worked in turns goes on from what was written last, and a copy with which a run has gone on is not taken again.
 * - Nowhere, but this task has a state of ours: the built-in adapter has kept the session that it was given, so that one is tried.
 * - Nowhere: the run begins a fresh session, and says why.
 */
export async function builtInState(parts: RunParts, usual: Portable, sessionId: string, importing: Importing): Promise<KeptState> {
  const { cli, serverEnv } = parts;
  if (cli.builtIn === undefined || cli.state === undefined) return usual;
  const serverHome = serverEnv.HOME || homedir();
  const sources = cli.builtIn.sessions({ ...sessionFacts(parts, sessionId, importing.log), serverHome });
  const seen = await runImport(parts, usual, sources, sessionId, importing, true);
  if (seen?.kind !== "seen") return conclude(seen, usual);
  const own = portable(parts, cli.state, sha256(`${cli.type}\n${sessionId}\n${seen.mtimeMs}`).slice(0, 12));
  return conclude(await runImport(parts, own, sources, sessionId, importing), own);

  async function conclude(answer: ImportAnswer | null, state: Portable): Promise<KeptState> {
    switch (answer?.kind) {
      case undefined:
      case "seen":
        return usual;
      case "imported":
        importing.log(`session ${sessionId} of the built-in adapter goes on: copied from ${answer.from} (${answer.bytes} bytes)`);
        return { ...state, spec: { ...state.spec, acceptUnsigned: false }, earlier: { lost: null } };
      case "saved-already":
        return { ...state, earlier: { lost: null } };
      case "stalled":
        // After its last retry the host would leave the issue to a person, only because other agents in the server write all the time.
        if (issueOf(parts.ctx).isLastRetry) return { ...usual, earlier: { lost: answer.reason } };
        throw new UnusableVolume(`session ${sessionId} of the built-in adapter cannot be copied now: ${answer.reason}`);
      case "not-found":
        if (await hasState(parts, usual)) return usual;
        return { ...usual, earlier: { lost: `it is not in ${answer.places.join(", ")}` } };
      case "unfit":
      case "blocked":
        return { ...usual, earlier: { lost: answer.reason } };
    }
  }
}

/** Whether a run of this task has saved a session; if the volume does not answer, the run's next steps report it. */
async function hasState({ inherited }: RunParts, { spec }: Portable): Promise<boolean> {
  const seen = await withVolume(inherited.claim.mountPath, (volume) => volume.run("lookAt", { paths: [spec.saved] }, LOOK_MS)).catch(
    () => [],
  );
  return seen.some(({ kind }) => kind === "folder");
}
