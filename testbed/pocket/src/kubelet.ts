import { isDeepStrictEqual } from "node:util";
import { type KubeObject, setCondition, timestamp } from "./object.ts";
import { isOver, type Pod, type PodSpec } from "./pod.ts";
import { PodWorker } from "./pod-worker.ts";
import { signalProcess } from "./processes.ts";
import type { StoreEvent } from "./store.ts";
import { nodeName, type World } from "./world.ts";

// The shortest time the real kubelet gives a container to end.
const minimumGraceMs = 2000;

// Runs the node's pods: starts a worker for each, stops it when the pod is deleted, keeps mounted Secrets up to date.
export class Kubelet {
  readonly workers = new Map<string, PodWorker>();
  /** Which pod had a name last: its log outlives it. */
  readonly uids = new Map<string, string>();
  readonly specs = new Map<string, PodSpec>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    world.store.subscribe((event) => this.#see(event));
  }

  worker(namespace: string, name: string): PodWorker | undefined {
    return this.workers.get(this.uids.get(`${namespace}/${name}`) ?? "");
  }

  #see(event: StoreEvent): void {
    if (event.resource === "pods") this.#seePod(event);
    if (event.resource === "secrets" || event.resource === "configmaps") this.#seeContent(event);
    if (event.resource === "persistentvolumeclaims") this.wake(event.object.metadata.namespace);
  }

  /** Lets waiting pods try again what they wait for. */
  wake(namespace?: string): void {
    for (const worker of this.workers.values()) {
      if (namespace === undefined || worker.pod.metadata.namespace === namespace) worker.wake();
    }
  }

  #seePod({ type, object, previous }: StoreEvent): void {
    const pod = object as Pod;
    if (pod.spec.nodeName !== nodeName || this.#world.state.nodeLost) return;
    const worker = this.workers.get(pod.metadata.uid);
    if (!worker) {
      if (type !== "DELETED" && !isOver(pod) && !pod.metadata.deletionTimestamp) this.#start(pod);
      return;
    }
    if (type === "DELETED" || pod.metadata.deletionTimestamp) worker.stop(graceOf(pod), true);
    if (type === "DELETED" && worker.over) this.workers.delete(pod.metadata.uid);
    const before = previous?.metadata;
    const changed = !isDeepStrictEqual([before?.labels, before?.annotations], [pod.metadata.labels, pod.metadata.annotations]);
    if (type === "MODIFIED" && changed) this.#refreshIn(this.#world.timings.secretRefreshOnPodChange, [worker]);
  }

  // A Secret that appears starts the pods that wait for it at once; one that changes reaches the files later.
  #seeContent({ type, object }: StoreEvent): void {
    if (type === "DELETED") return;
    this.wake(object.metadata.namespace);
    if (type === "MODIFIED") this.#refreshIn(this.#world.timings.secretRefresh, this.#usersOf(object));
  }

  #usersOf({ metadata: { namespace, name } }: KubeObject): PodWorker[] {
    return [...this.workers.values()].filter(
      ({ pod }) =>
        pod.metadata.namespace === namespace &&
        pod.spec.volumes?.some((volume) => volume.secret?.secretName === name || volume.configMap?.name === name),
    );
  }

  #refreshIn(ms: number, workers: readonly PodWorker[]): void {
    this.#world.timers.after(ms, () => {
      for (const worker of workers) worker.refresh();
    });
  }

  #start(pod: Pod): void {
    const worker = new PodWorker(this.#world, pod);
    this.workers.set(pod.metadata.uid, worker);
    this.uids.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod.metadata.uid);
    this.specs.set(pod.metadata.uid, pod.spec);
    worker.run().catch((error: unknown) => {
      if (!this.#world.timers.closed) console.error(`pocket: pod ${pod.metadata.name}:`, error);
    });
  }

  /** The node stops reporting; what runs on it goes on. */
  lose(taint: boolean): void {
    const { store, state, recorder } = this.#world;
    state.nodeLost = true;
    const timeAdded = timestamp();
    const key = "node.kubernetes.io/unreachable";
    store.change("nodes", undefined, nodeName, (node) => {
      const message = "Kubelet stopped posting node status.";
      node.status.conditions = setCondition(node.status.conditions, {
        type: "Ready",
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message,
      });
      node.spec.taints = [{ key, effect: "NoSchedule", timeAdded }, ...(taint ? [{ key, effect: "NoExecute", timeAdded }] : [])];
    });
    for (const pod of this.#ownPods()) {
      recorder.record(pod, "node-controller", "Warning", "NodeNotReady", "Node is not ready");
      store.change("pods", pod.metadata.namespace, pod.metadata.name, (draft) => {
        draft.status.conditions = setCondition(draft.status.conditions, { type: "Ready", status: "False", lastProbeTime: null });
      });
    }
  }

  /** The node is back: it learns what happened meanwhile, and tells. */
  find(): void {
    const { store, state } = this.#world;
    state.nodeLost = false;
    store.change("nodes", undefined, nodeName, (node) => {
      const message = "kubelet is posting ready status";
      node.status.conditions = setCondition(node.status.conditions, { type: "Ready", status: "True", reason: "KubeletReady", message });
      delete node.spec.taints;
    });
    for (const pod of this.#ownPods()) this.#seePod({ type: "MODIFIED", version: 0, resource: "pods", object: pod, previous: pod });
    for (const worker of this.workers.values()) {
      const { namespace, name, uid } = worker.pod.metadata;
      if (store.get("pods", namespace, name)?.metadata.uid !== uid) worker.stop(graceOf(worker.pod), true);
      worker.thaw();
    }
  }

  #ownPods(): Pod[] {
    return this.#world.store.list("pods").filter((pod) => pod.spec.nodeName === nodeName && !isOver(pod));
  }

  /** The groups of all main processes: what can be reached where a process's environment cannot be read. */
  killGroups(): void {
    for (const { running } of this.workers.values()) if (running) signalProcess(-running.pid, "SIGKILL");
  }
}

const graceOf = (pod: Pod): number =>
  Math.max(minimumGraceMs, (pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
