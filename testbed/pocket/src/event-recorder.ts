import { type KubeObject, timestamp } from "./object.ts";
import type { Store } from "./store.ts";

// Kubernetes Events; a repeated one raises its count instead of making a second object.
export class EventRecorder {
  readonly #store: Store;
  readonly #names = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
  }

  record(about: KubeObject, component: string, type: "Normal" | "Warning", reason: string, message: string): void {
    const { kind, apiVersion } = about;
    const { name, uid, resourceVersion, namespace = "default" } = about.metadata;
    const key = [uid, reason, message].join("\n");
    const repeated = this.#store.change("events", namespace, this.#names.get(key) ?? "", (draft) => {
      draft.count += 1;
      draft.lastTimestamp = timestamp();
    });
    if (repeated) return;
    const made = this.#store.create("events", {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.${Date.now().toString(16)}${Math.floor(Math.random() * 2 ** 32).toString(16)}`, namespace },
      involvedObject: { kind, namespace, name, uid, apiVersion, resourceVersion },
      type,
      reason,
      message,
      count: 1,
      source: { component },
      reportingComponent: component,
      reportingInstance: "",
      firstTimestamp: timestamp(),
      lastTimestamp: timestamp(),
      eventTime: null,
    });
    this.#names.set(key, made.metadata.name);
  }
}
