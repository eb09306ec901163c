import { NOT_STARTED } from "../../conclude/way-out.ts";
import { issueOf } from "../../host/issue.ts";
import { DETACHED_CODE } from "../../host/runs.ts";
import type { ExecutionContext, ExecutionResult } from "../../host/types.ts";
import { taskOf } from "../../prepare/environment/facts.ts";
import { hostRecord } from "./host-record.ts";
import type { RunRegistry } from "./run-registry.ts";

/** What a run needs of the server that may be about to stop. */
export interface Handover {
  /** Aborted = leave the Job as it is, for the next server. */
  readonly detach: AbortSignal;
  /** Resolves when the run may start, is cancelled or detached; says what it waits for. */
  mayStart(cancelled: AbortSignal, say: (text: string) => void): Promise<void>;
}

/** Executes a run that can be detached while it lasts. */
export async function runDetachable(
  registry: RunRegistry,
  ctx: ExecutionContext,
  serverEnv: NodeJS.ProcessEnv,
  run: (handover: Handover) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const registered = { runId: ctx.runId, detachable: canDetach(ctx), record: hostRecord(ctx, serverEnv) };
  if (registry.isDraining && isRetried(ctx)) {
    registry.refuse(registered);
    return { ...REFUSED };
  }
  const detach = new AbortController();
  let end: (() => void) | null = null;
  const register = () => {
    const registration = registry.register(registered);
    registration.detach.addEventListener("abort", () => detach.abort(registration.detach.reason));
    end = registration.end;
  };
  // A drain that begins later asks this run too, also while it is still being prepared.
  if (!registry.isDraining) register();
  // A host that restarts interrupted runs by itself starts one that waits here again in its next server.
  const mayStart: Handover["mayStart"] = async (cancelled, say) => {
    const leaves = AbortSignal.any([cancelled, detach.signal]);
    if (registry.isDraining && !leaves.aborted) {
      say("the server is about to stop, so this run is not started here; it starts if the server stays");
      await registry.whenOpen(leaves);
    }
    if (end === null) register();
  };
  return run({ detach: detach.signal, mayStart }).finally(() => end?.());
}

type RunFacts = Pick<ExecutionContext, "context" | "onCancellationReady">;

/** Only a run that is known to work on the same task takes a Job over, so the Job of a run without a task would be left to nobody. */
export function canDetach(ctx: RunFacts): boolean {
  return isRetried(ctx) && taskOf(ctx) !== null;
}

/** Whether the host retries a run that asks for it. The Job of one that is detached after the last retry would be left to nobody. */
function isRetried(ctx: RunFacts): boolean {
  const { holdsUnprovedEnds, isLastRetry } = issueOf(ctx);
  return holdsUnprovedEnds && !isLastRetry;
}

/** Nothing was started, and the next server may start it. */
const REFUSED: ExecutionResult = {
  exitCode: null,
  signal: null,
  timedOut: false,
  errorCode: DETACHED_CODE,
  errorMessage: "Not started: the server is about to stop",
  summary: "The server is about to stop, so this run was not started. The next server starts it by itself; nothing has to be done.",
  errorFamily: "transient_upstream",
  executionRecovery: NOT_STARTED,
};
