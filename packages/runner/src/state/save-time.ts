// How long the save at the end of a run may take.
import { drainTime } from "../cli/follow-cli.ts";
import type { StopRequest } from "../cli/stop-request.ts";
import type { Order } from "../read-spec.ts";

/** Shrinks when the pod is told to stop, also in the middle of the save: what the CLI has not used of its grace is the state's. */
export function saveTimeLeft(order: Order, stop: StopRequest, overAt: number): () => number {
  const { state, stopGraceSec } = order.spec;
  const wanted = overAt + (state?.saveSec ?? 0) * 1000;
  return () => {
    const forced =
      stop.askedAt === null ? Number.POSITIVE_INFINITY : Math.max(stop.askedAt + stopGraceSec * 1000, overAt) + drainTime(order) * 0.7;
    return Math.min(wanted, forced) - performance.now();
  };
}
