import type { ExecutionContext, ExecutionResult } from "../../host/types.ts";
import { statusReader } from "../../observe/cancel.ts";
import { taskOf } from "../../prepare/environment/facts.ts";
import type { Drain } from "./drain.ts";
import { lastWordReader } from "./last-word.ts";

/** How often the newest host goes on by itself, counted over all retries of a task; one more would leave the Job to nobody. */
const HOST_RETRIES = 2;

/** Runs one run as somebody who can be asked to leave. */
export async function attend(
  drain: Drain,
  ctx: ExecutionContext,
  serverEnv: NodeJS.ProcessEnv,
  run: (detach: AbortSignal) => Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  const attendee = {
    runId: ctx.runId,
    detachable: canDetach(ctx),
    status: statusReader(ctx, { serverEnv }),
    lastWord: lastWordReader(ctx, serverEnv),
  };
  if (drain.active && isRetried(ctx)) {
    drain.turnAway(attendee);
    return notNow("the server is about to stop");
  }
  // A host that starts interrupted runs again by itself has this one still to come, in its next server.
  await drain.over();
  const visit = drain.enter(attendee);
  try {
    return await run(visit.detach);
  } finally {
    visit.leave();
  }
}

type Asked = Pick<ExecutionContext, "context" | "onCancellationReady">;

/** Only who is known to work on the same task takes a Job over: one without a task would be left to nobody. */
export function canDetach(ctx: Asked): boolean {
  return isRetried(ctx) && taskOf(ctx) !== null;
}

/** Hosts that go on by themselves with a run that asks for it (2026.916): the callback came with that. */
function isRetried({ context, onCancellationReady }: Asked): boolean {
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
