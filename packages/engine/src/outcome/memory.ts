import type { MemoryEvidence } from "../run-outcome.ts";
import { cliEnd } from "./ended.ts";
import { terminated } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

/** A container at its limit is killed within a few pages of it; one that was killed far below it was killed because the node had no memory left. */
const AT_LIMIT = 0.75;

/** How much memory the run had and used, and whether that was too little: from the runner, else from the container's state. */
export function memoryOf(state: RunState): MemoryEvidence {
  const end = cliEnd(state);
  const fromStatus = terminated(state.pod, state.identity.container)?.reason === "OOMKilled";
  const oomKills = end?.oomKills ?? (fromStatus ? 1 : null);
  const limitBytes = end?.memoryLimitBytes ?? null;
  const limit = state.pod?.resources[state.identity.container]?.["limits.memory"] ?? (limitBytes === null ? null : quantity(limitBytes));
  const peakBytes = end?.peakMemoryBytes ?? null;
  const peak = peakBytes === null ? null : quantity(peakBytes);
  const byNode = limitBytes !== null && peakBytes !== null && peakBytes < limitBytes * AT_LIMIT;
  const figures = [...(limit === null ? [] : [`limit ${limit}`]), ...(peak === null ? [] : [`peak ${peak}`])].join(", ");
  const killed = (oomKills ?? 0) > 0 || fromStatus;
  return { oomKills, limit, peak, figures, killed, remedy: killed ? remedy(state, limit, byNode) : null };
}

function remedy(state: RunState, limit: string | null, byNode: boolean): string {
  if (byNode || (limit === null && state.pod !== null)) {
    const asked = state.pod?.resources[state.identity.container]?.["requests.memory"];
    return `the node itself ran out of memory: raise resources.requests.memory${asked === undefined ? "" : `, now ${asked}`}`;
  }
  return `raise resources.limits.memory${limit === null ? "" : `, now ${limit}`}`;
}

/** For a run whose CLI went on: a tool that it had started may have been killed. */
export function childKilled({ oomKills, figures, remedy }: MemoryEvidence): string {
  const count = oomKills ?? 1;
  const what = count === 1 ? "a process of the run was" : `${count} processes of the run were`;
  return `${what} killed for lack of memory${figures === "" ? "" : ` (${figures})`}; ${remedy}`;
}

/** Bytes as Kubernetes writes them. */
export function quantity(bytes: number): string {
  const units = ["", "Ki", "Mi", "Gi", "Ti"];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${Number.isInteger(amount) || amount >= 100 ? Math.round(amount) : amount.toFixed(1)}${units[power]}`;
}
