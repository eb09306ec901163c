import type { ExecutionContext } from "./types.ts";

// What one release of the host does and another does not, by what it hands to a run.

/** Since 2026.916 the host has a default model of its own for agents that name none. */
export const hasDefaultModel = (ctx: Pick<ExecutionContext, "onCancellationReady">): boolean => ctx.onCancellationReady !== undefined;
