import type { ExecutionContext } from "../../host/types.ts";
import { apiBase } from "../../observe/cancel.ts";

/**
 * What the host (2026.916) notes when it has done everything it does after a run: its retry is on the list, and what the run held is
 * released. One that stops in between refuses that retry for ever, because "the previous execution has not released its environment lease".
 */
const LAST_WORD = /^run scratch clean/;
/** A host whose last word is another one has nothing to add after so long. */
const SILENCE_MS = 10_000;
const REQUEST_TIMEOUT_MS = 5000;

/** Whether the host has finished with a run that is over; asked again and again. */
export type LastWordReader = () => Promise<boolean>;

interface RunEvent {
  readonly seq?: number;
  readonly message?: string | null;
}

export function lastWordReader({ authToken, runId }: ExecutionContext, serverEnv: NodeJS.ProcessEnv): LastWordReader | null {
  const base = apiBase(serverEnv);
  if (base === null || authToken === undefined) return null;
  const headers = { authorization: `Bearer ${authToken}` };
  let seen = 0;
  let newsAt: number | null = null;
  return async () => {
    const url = `${base}/api/heartbeat-runs/${encodeURIComponent(runId)}/events?afterSeq=${seen}`;
    const events = await eventsAt(url, headers);
    if (newsAt === null || events.length > 0) newsAt = Date.now();
    seen = Math.max(seen, ...events.map(({ seq }) => seq ?? 0));
    return events.some(({ message }) => LAST_WORD.test(message ?? "")) || Date.now() - newsAt >= SILENCE_MS;
  };
}

/** No answer is no news. */
async function eventsAt(url: string, headers: Readonly<Record<string, string>>): Promise<readonly RunEvent[]> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    const events: unknown = answer.ok ? await answer.json() : [];
    return Array.isArray(events) ? events : [];
  } catch {
    return [];
  }
}
