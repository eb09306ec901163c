import { apiBase } from "../observe/cancel.ts";
import { recordOf } from "./context-values.ts";
import type { ExecutionContext } from "./types.ts";

const TIMEOUT_MS = 5000;

/** What the host has on record about a run. */
export interface HostRun {
  readonly id: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly retryOfRunId: string | null;
  /** Cancelled by the host itself before it had begun: a comment came, and another run takes its place. */
  readonly superseded?: boolean;
}

/** `missing`: the host knows no such run. Throws where it cannot be asked. */
export type RunReader = (runId: string) => Promise<HostRun | "missing">;

/** Asks the host with this run's own token; null = there is no way to ask. */
export function runReader(ctx: Pick<ExecutionContext, "authToken">, serverEnv: NodeJS.ProcessEnv): RunReader | null {
  const base = apiBase(serverEnv);
  if (base === null || ctx.authToken === undefined) return null;
  return async (runId) => {
    const answer = await fetch(`${base}/api/heartbeat-runs/${encodeURIComponent(runId)}`, {
      headers: { authorization: `Bearer ${ctx.authToken}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (answer.status === 404) return "missing";
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return runOf(runId, (await answer.json()) as Record<string, unknown>);
  };
}

function runOf(id: string, { status, errorCode, retryOfRunId, contextSnapshot, startedAt, resultJson }: Record<string, unknown>): HostRun {
  if (typeof status !== "string") throw new Error("an answer without a status");
  const unasked = startedAt === null && errorCode === "cancelled" && recordOf(resultJson).cancelledByActorType === undefined;
  const from = text(retryOfRunId) ?? text(recordOf(contextSnapshot).retryOfRunId);
  return { id, status, errorCode: text(errorCode), retryOfRunId: from, superseded: status === "cancelled" && unasked };
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
