import { isAccessDenied } from "../kube/api-error.ts";
import { permissionFor } from "../kube/permissions.ts";
import { sharedEvents } from "../kube/shared-events.ts";
import { hasStarted } from "../outcome/pod-facts.ts";
import type { RunState } from "../outcome/state.ts";
import { log, type RunContext } from "../run-context.ts";

const PAUSES_MS = [0, 5000, 10_000, 20_000];
const LAST_PAUSE_MS = 30_000;

/** Reads events only while a pod does not start: nothing else names problems with mounts, quota and admission. */
export function createEventReader(context: RunContext, jobUid: string): (state: RunState) => void {
  const { run, connection, request } = context;
  let requests = 0;
  let nextAt = 0;
  let busy = false;
  let warned = false;
  const read = async (uid: string) => {
    try {
      const events = await sharedEvents(connection, request.namespace).about(uid);
      if (events.length > 0) run.observe({ kind: "events", events });
    } catch (error) {
      // Without events only the explanation is missing.
      if (isAccessDenied(error) && !warned) log(context, "warning", `${error.message}; ${permissionFor(error.denied)?.lostWithout ?? ""}`);
      warned ||= isAccessDenied(error);
    } finally {
      busy = false;
    }
  };
  return (state) => {
    if (busy || state.now < nextAt || !needsExplanation(state, run.timeouts.events)) return;
    busy = true;
    requests += 1;
    nextAt = state.now + (PAUSES_MS[requests] ?? LAST_PAUSE_MS);
    void read(state.pod?.uid ?? jobUid);
  };
}

function needsExplanation(state: RunState, afterMs: number): boolean {
  if (state.acceptedAt === null || state.endedAt !== null || state.apiLostAt !== null) return false;
  if (state.startRecord !== null || hasStarted(state.pod, state.identity.container)) return false;
  return state.now - state.acceptedAt >= afterMs;
}
