import type { Ending } from "../../conclude/failure.ts";
import { buildResult } from "../../conclude/result.ts";
import type { ExecutionResult } from "../../host/types.ts";
import type { Turn } from "../../prepare/attempt.ts";
import type { SessionGround } from "../../prepare/session.ts";

/** The run goes on elsewhere: who takes it over reports what it used, and its session stays the one it began with. */
export function detachedResult(turn: Turn, ending: Ending, ground: SessionGround | null): ExecutionResult {
  const { usage, usageBasis, costUsd, summary, sessionId, sessionParams, sessionDisplayId, ...rest } = buildResult(turn, ending, ground);
  return turn.sessionId === null ? { ...rest, sessionId, sessionParams, sessionDisplayId } : rest;
}
