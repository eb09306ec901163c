import { isRefused } from "../cluster/api-error.ts";
import { listEvents } from "../cluster/calls.ts";
import { rowOf } from "../cluster/refused.ts";
import { type RunContext, say } from "./io.ts";
import { hasStarted } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

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
    const { state, policy } = run;
    if (busy || !needsExplanation(state, policy.events) || state.now < nextAt) return;
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
