import type { EventRecorder } from "./event-recorder.ts";
import type { ImageTable } from "./image.ts";
import type { Store } from "./store.ts";
import type { Timers } from "./timers.ts";
import type { Timings } from "./timings.ts";

export const nodeName = "pocket";

/** Where a claim's data lives on this machine. */
export const hostDirAnnotation = "pocket.test/host-dir";

// Faults that concern controllers rather than requests; see faults.ts for what each does.
export interface ClusterState {
  unschedulable: string | null;
  /** Why no pod may be made, given the name it would have had. */
  podRefused: ((pod: string, namespace: string) => string) | null;
  readonly imageErrors: Map<string, string>;
  nodeLost: boolean;
  /** A container beside each pod's own does not end. */
  podsStay: boolean;
}

// What API server, controllers and kubelet share.
export interface World {
  readonly dir: string;
  readonly clusterId: string;
  readonly store: Store;
  readonly timers: Timers;
  readonly timings: Timings;
  readonly recorder: EventRecorder;
  readonly images: ImageTable;
  readonly state: ClusterState;
}
