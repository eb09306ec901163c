import { homedir } from "node:os";
import { withVolume } from "@paperclip-k8s/engine";
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
 * - It is in the server's home: imported, into a state of its own. Once, because from then on the host's record says where it is kept.
 * - It is nowhere, but this task has a state of ours: the built-in adapter has kept the session that it was given, so that one is tried.
 * - It is nowhere: the run begins a fresh session, and says why.
 */
export async function builtInState(parts: RunParts, usual: Portable, sessionId: string, importing: Importing): Promise<KeptState> {
  const { cli, serverEnv } = parts;
  if (cli.builtIn === undefined || cli.state === undefined) return usual;
  const own = portable(parts, cli.state, sha256(`${cli.type}\n${sessionId}`).slice(0, 12));
  const serverHome = serverEnv.HOME || homedir();
  const sources = cli.builtIn.sessions({ ...sessionFacts(parts, sessionId, importing.log), serverHome });
  const answer = await runImport(parts, own, sources, sessionId, importing);
  switch (answer?.kind) {
    case undefined:
      return usual;
    case "imported":
      importing.log(`session ${sessionId} of the built-in adapter goes on: copied from ${answer.from} (${answer.bytes} bytes)`);
      return { ...own, spec: { ...own.spec, acceptUnsigned: false }, earlier: { lost: null } };
    case "saved-already":
      return { ...own, earlier: { lost: null } };
    case "stalled":
      throw new UnusableVolume(`session ${sessionId} of the built-in adapter cannot be copied now: ${answer.reason}`);
    case "not-found":
      if (await hasState(parts, usual)) return usual;
      return { ...usual, earlier: { lost: `it is not in ${sources.map(({ path }) => path).join(", ")}` } };
    case "unfit":
    case "blocked":
      return { ...usual, earlier: { lost: answer.reason } };
  }
}

/** Whether a run of this task has saved a session; if the volume does not answer, the run's next steps report it. */
async function hasState({ inherited }: RunParts, { spec }: Portable): Promise<boolean> {
  const seen = await withVolume(inherited.claim.mountPath, (volume) => volume.run("lookAt", { paths: [spec.saved] }, LOOK_MS)).catch(
    () => [],
  );
  return seen.some(({ kind }) => kind === "folder");
}
