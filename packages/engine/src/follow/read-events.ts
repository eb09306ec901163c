import { isRefused } from "../kube/api-error.ts";
import { listEvents } from "../kube/calls.ts";
import { rowOf } from "../kube/refused.ts";
import { hasStarted } from "../outcome/pod-facts.ts";
import type { RunState } from "../outcome/state.ts";
import { type RunContext, say } from "../run-context.ts";

const PAUSES_MS = [0, 5000, 10_000, 20_000];
const LAST_PAUSE_MS = 30_000;

/** Reads events only when a pod does not start: they are the only ones to tell of mounts, quota and admission. */
export function explain(context: RunContext, jobUid: string): () => void {
  const { run, clock, connection, request } = context;
  let asked = 0;
  let nextAt = 0;
  let busy = false;
  let told = false;
  const ask = async (uid: string) => {
    try {
      const events = await listEvents(connection, request.namespace, uid, { retry: { attempts: 1 } });
      if (events.length > 0) run.observe({ kind: "events", events });
    } catch (error) {
      // An explanation that cannot be had costs nothing but itself.
      if (isRefused(error) && !told) say(context, "warning", `${error.message}; ${rowOf(error.refused)?.lostWithout ?? ""}`);
      told ||= isRefused(error);
    } finally {
      busy = false;
    }
  };
  return clock.every(1000, () => {
    const { state, timeouts } = run;
    if (busy || !needsExplanation(state, timeouts.events) || state.now < nextAt) return;
    busy = true;
    asked += 1;
    nextAt = state.now + (PAUSES_MS[asked] ?? LAST_PAUSE_MS);
    void ask(state.pod?.uid ?? jobUid);
  });
}

function needsExplanation(state: RunState, patience: number): boolean {
  if (state.acceptedAt === null || state.overAt !== null || state.apiLostAt !== null) return false;
  if (state.startRecord !== null || hasStarted(state.pod, state.identity.container)) return false;
  return state.now - state.acceptedAt >= patience;
}
