import { NOT_STARTED } from "../../conclude/way-out.ts";
import { issueOf } from "../../host/issue.ts";
import { DETACHED_CODE } from "../../host/runs.ts";
import type { ExecutionContext, ExecutionResult } from "../../host/types.ts";
import { taskOf } from "../../prepare/environment/facts.ts";
import { hostRecord } from "./host-record.ts";
import type { RunRegistry } from "./run-registry.ts";

/** Executes a run that can be detached while it lasts. */
export async function runDetachable(
  registry: RunRegistry,
  ctx: ExecutionContext,
  serverEnv: NodeJS.ProcessEnv,
  run: (detach: AbortSignal) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const registered = { runId: ctx.runId, detachable: canDetach(ctx), record: hostRecord(ctx, serverEnv) };
  if (registry.isDraining && isRetried(ctx)) {
    registry.refuse(registered);
    return { ...REFUSED };
  }
  // A host that restarts interrupted runs by itself starts this one again in its next server.
  await registry.whenOpen();
  const registration = registry.register(registered);
  try {
    return await run(registration.detach);
  } finally {
    registration.end();
  }
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
