import type { Ending } from "../failure.ts";
import type { ExecutionResult } from "../host.ts";
import { buildResult } from "../result.ts";
import type { SessionGround } from "../session.ts";
import type { Turn } from "../turn.ts";

/** The run goes on elsewhere: who takes it over reports what it used, and its session stays the one it began with. */
export function detachedResult(turn: Turn, ending: Ending, ground: SessionGround | null): ExecutionResult {
  const { usage, usageBasis, costUsd, summary, sessionId, sessionParams, sessionDisplayId, ...rest } = buildResult(turn, ending, ground);
  return turn.sessionId === null ? { ...rest, sessionId, sessionParams, sessionDisplayId } : rest;
}
