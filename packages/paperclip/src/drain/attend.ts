import { statusReader } from "../cancel.ts";
import type { ExecutionContext, ExecutionResult } from "../host.ts";
import type { Drain } from "./drain.ts";

/** How often the newest host goes on by itself, counted over all retries of a task; one more would leave the Job to nobody. */
const HOST_RETRIES = 2;

/** Runs one run as somebody who can be asked to leave. */
export async function attend(
  drain: Drain,
  ctx: ExecutionContext,
  serverEnv: NodeJS.ProcessEnv,
  run: (detach: AbortSignal) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const detachable = canDetach(ctx);
  if (drain.active && detachable) return notNow("the server is about to stop");
  // A host that starts interrupted runs again by itself has this one still to come, in its next server.
  await drain.over();
  const visit = drain.enter({ runId: ctx.runId, detachable, status: statusReader(ctx, { serverEnv }) });
  try {
    return await run(visit.detach);
  } finally {
    visit.leave();
  }
}

/** Hosts that go on by themselves with a run that asks for it (2026.916): the callback came with that. */
export function canDetach({ context, onCancellationReady }: Pick<ExecutionContext, "context" | "onCancellationReady">): boolean {
  const retries = typeof context.scheduledRetryAttempt === "number" ? context.scheduledRetryAttempt : 0;
  return onCancellationReady !== undefined && retries < HOST_RETRIES;
}

/** A run that comes while the server is leaving: nothing was begun, and the next server may. */
function notNow(reason: string): ExecutionResult {
  return {
    exitCode: null,
    signal: null,
    timedOut: false,
    errorCode: "k8s_detached",
    errorMessage: `Not started: ${reason}`,
    errorFamily: "transient_upstream",
    executionRecovery: { kind: "bootstrap", providerWorkStarted: false },
  };
}
