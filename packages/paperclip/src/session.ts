import type { ExecutionContext, SessionCodec } from "./host.ts";

/** Session of a run as it comes in: the params' id, else the runtime's. */
export function incomingSession(ctx: ExecutionContext): string | null {
  const fromParams = ctx.runtime.sessionParams?.sessionId;
  const id = typeof fromParams === "string" && fromParams !== "" ? fromParams : ctx.runtime.sessionId;
  return id === null || id === undefined || id === "" ? null : id;
}

/** Keeps every key it is given: what one version wrote, the next must find. */
export const sessionCodec: SessionCodec = {
  deserialize: (raw) => (isParams(raw) ? { ...raw } : null),
  serialize: (params) => (params === null || !isParams(params) ? null : { ...params }),
  getDisplayId: (params) => (params !== null && typeof params.sessionId === "string" ? params.sessionId : null),
};

function isParams(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const id = (value as Record<string, unknown>).sessionId;
  return typeof id === "string" && id !== "";
}
