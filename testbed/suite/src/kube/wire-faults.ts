import { failure, type RequestMatch } from "@paperclip-k8s/pocket/wire";
import type { WireFaults } from "../bed-faults.ts";
import type { FaultProxy } from "./fault-proxy.ts";

/** The faults of the wire, made by the proxy. */
export function wireFaults(proxy: FaultProxy): WireFaults {
  const { faults } = proxy;
  return {
    fail: (match, { status, times = 1, ...options }) => faults.add(match, { kind: "fail", error: failure(status, options) }, times),
    hang: (match, { times = 1 } = {}) => faults.add(match, { kind: "hang" }, times),
    delay: (match, ms, { times = 1 } = {}) => faults.add(match, { kind: "delay", ms }, times),
    drop: (match: RequestMatch, { when, times = 1 }) => faults.add(match, { kind: "drop", when }, times),
    down: () => proxy.down(),
    up: () => proxy.up(),
    cutWatches: () => {
      const hit = [...proxy.watches];
      for (const watch of hit) watch.cut();
      return hit.length;
    },
    silenceWatches: () => {
      proxy.silent = true;
      return { hits: proxy.watches.size, undo: () => (proxy.silent = false) };
    },
    duplicateEvents: () => {
      proxy.duplicating = true;
      return { hits: proxy.watches.size, undo: () => (proxy.duplicating = false) };
    },
    expireHistory: ({ as = "event" } = {}) => {
      for (const resource of ["jobs", "pods"]) proxy.expired.set(resource, as);
    },
  };
}
