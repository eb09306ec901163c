import { lackingAccess } from "../kube/access-review.ts";
import type { StartProblem } from "../outcome/observation.ts";
import { errorFacts, retryTransient, unlessLeaving, withTimeout } from "../retry.ts";
import type { RunContext } from "../run-context.ts";
import { ensureClaims } from "./ensure-claims.ts";

/** An API server that does not answer is no reason to wait longer: the create that follows shows what is wrong. */
const ACCESS_TIMEOUT_MS = 5000;

/** Makes the run's files and claims, and checks what is cheaper to find out before the Job exists. */
export async function prepare(context: RunContext): Promise<void> {
  const { run, leaving } = context;
  // The API server answers while the volume does.
  let asked: Promise<void> | null = leaving.aborted ? null : checkAccess(context);
  asked?.catch(() => {});
  const access = (): Promise<void> => {
    const answer = asked ?? checkAccess(context);
    asked = null;
    return answer;
  };
  const permissions = () => checkPermissions(context, access);
  // A Job that is adopted has its files and claims.
  const steps = context.request.adoptsOnly ? [permissions] : [prepareFiles, permissions, ensureClaims];
  for (const step of steps) {
    const problem = leaving.aborted ? null : await step(context);
    if (problem !== null) return run.observe({ kind: "start-problem", problem });
  }
  if (leaving.aborted) run.observe({ kind: "left-before-job" });
}

async function prepareFiles({ volume, submission, request, leaving }: RunContext): Promise<StartProblem | null> {
  try {
    const made = volume.prepare(submission.files, process.getuid?.() === 0 ? request.user : null, request.folders, request.output.note);
    await unlessLeaving(leaving, made);
    return null;
  } catch (error) {
    return { kind: "volume-unusable", root: request.output.root, error: errorFacts(error) };
  }
}

async function checkPermissions(context: RunContext, access: () => Promise<void>): Promise<StartProblem | null> {
  try {
    await retryTransient(context, "the run cannot be followed", access);
    return null;
  } catch (error) {
    return { kind: "access-denied", error: errorFacts(error) };
  }
}

/**
 * Throws if the account lacks what it needs to follow the run to its end and to end it.
 * The first run of a namespace waits for the answers; later ones have them.
 */
async function checkAccess(context: RunContext): Promise<void> {
  const { watch, connection, request } = context;
  const options = { timeoutMs: ACCESS_TIMEOUT_MS, retry: { attempts: 1 } };
  const lacking = Promise.all([watch.accessError(), lackingAccess(connection, request.namespace, options)]);
  const denied = await withTimeout(context, ACCESS_TIMEOUT_MS, lacking);
  const error = denied?.find((each) => each !== null) ?? null;
  if (error !== null) throw error;
}
