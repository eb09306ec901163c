import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccessRule, DeniedAccess } from "./access.ts";
import type { AuditEntry } from "./audit.ts";
import { EventRecorder } from "./event-recorder.ts";
import { onExit } from "./exit-guard.ts";
import { Faults } from "./faults.ts";
import { GarbageCollector } from "./garbage.ts";
import type { ImageTable } from "./image.ts";
import { JobController } from "./job-controller.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { Kubelet } from "./kubelet.ts";
import { NamespaceController } from "./namespaces.ts";
import { readLog } from "./pod-log.ts";
import { clusterMarker, killMarked } from "./processes.ts";
import { startReaper } from "./reaper.ts";
import type { ResourceName, Resources } from "./resources.ts";
import { Scheduler } from "./scheduler.ts";
import { createClaim, createNamespace, createNode, createStorageClass } from "./seed.ts";
import { ApiServer } from "./server.ts";
import { Store } from "./store.ts";
import { Timers } from "./timers.ts";
import { type Timings, timingsOf } from "./timings.ts";
import type { World } from "./world.ts";

export type { AccessRule, DeniedAccess } from "./access.ts";
export type { AuditEntry } from "./audit.ts";
export type { Faults } from "./faults.ts";
export type { ImageDefinition, ImageTable } from "./image.ts";
export type { Job } from "./job.ts";
export type { KubeEvent, KubeObject, Secret } from "./object.ts";
export type { Pod } from "./pod.ts";
export type { Fault, RequestMatch } from "./request-faults.ts";
export type { ResourceName } from "./resources.ts";
export { fastTimings, realTimings, type Timings } from "./timings.ts";

export interface PocketOptions {
  /** Where it keeps its files; by default a folder of its own below the system's temporary one. */
  readonly dir?: string;
  readonly images?: ImageTable;
  readonly timings?: "fast" | "real" | Partial<Timings>;
  readonly token?: string;
  readonly port?: number;
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  /** Permissions the account lacks. */
  readonly denied?: readonly DeniedAccess[];
  /** How many changes a watch can resume over. */
  readonly historyLimit?: number;
}

export interface Pocket {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly dir: string;
  /** Path of a kubeconfig file. */
  readonly kubeconfig: string;
  readonly faults: Faults;
  readonly images: ImageTable;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly AuditEntry[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  createNamespace(name: string, labels?: Record<string, string>): void;
  createClaim(namespace: string, name: string, hostDir: string, options?: { accessModes?: string[]; bound?: boolean }): void;
  /** An account that may do only this, in this namespace; the path of its kubeconfig. */
  createAccount(namespace: string, allowed: readonly AccessRule[]): string;
  get<R extends ResourceName>(resource: R, namespace: string | undefined, name: string): Resources[R] | undefined;
  list<R extends ResourceName>(resource: R, namespace?: string): Resources[R][];
  /** What a container has written so far; the first container's unless named. Works after the pod is gone. */
  podLog(namespace: string, pod: string, container?: string): string;
  /** Main process of a running pod. */
  podPid(namespace: string, pod: string): number | undefined;
  stop(): Promise<void>;
}

export async function startPocket(options: PocketOptions = {}): Promise<Pocket> {
  const ownDir = options.dir === undefined;
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), "pocket-"));
  mkdirSync(join(dir, "pods"), { recursive: true });
  const world = createWorld(dir, options);
  const { kubelet, scheduler } = startControllers(world);
  createNode(world, options.nodeLabels ?? {}, options.capacity ?? {});
  createNamespace(world, "default");
  createStorageClass(world);
  const token = options.token ?? randomUUID();
  const server = new ApiServer(world, token, options.port);
  server.denied.push(...(options.denied ?? []));
  const cleanUp = (): void => {
    kubelet.killGroups();
    leaveNothing(world, ownDir);
  };
  // For a process that exits without stopping its cluster; the reaper is for one that is killed.
  const forgetExit = onExit(cleanUp);
  const dismissReaper = startReaper(world.clusterId, ownPaths(dir, ownDir));
  await server.up();
  const url = `http://127.0.0.1:${server.port}`;
  const config = join(dir, "kubeconfig");
  writeFileSync(config, kubeconfig(url, token, "default"), { mode: 0o600 });

  return {
    url,
    port: server.port,
    token,
    dir,
    kubeconfig: config,
    faults: new Faults({ world, server, kubelet, scheduler }),
    images: world.images,
    requests: server.requests,
    get connections() {
      return server.connections;
    },
    createNamespace: (name, labels) => createNamespace(world, name, labels),
    createClaim: (namespace, name, hostDir, claim) => createClaim(world, namespace, name, hostDir, claim),
    createAccount: (namespace, allowed) => createAccount(server, dir, namespace, allowed),
    get: (resource, namespace, name) => world.store.get(resource, namespace, name),
    list: (resource, namespace) => world.store.list(resource, namespace),
    podLog: (namespace, pod, container) => podLog(world, kubelet, namespace, pod, container),
    podPid: (namespace, pod) => kubelet.worker(namespace, pod)?.running?.pid,
    async stop() {
      world.timers.close();
      await server.down();
      cleanUp();
      forgetExit();
      dismissReaper();
    },
  };
}

// Each subscribes to the store and lives as long as it.
function startControllers(world: World): { kubelet: Kubelet; scheduler: Scheduler } {
  const kubelet = new Kubelet(world);
  const scheduler = new Scheduler(world);
  new JobController(world);
  new GarbageCollector(world);
  new NamespaceController(world);
  return { kubelet, scheduler };
}

function createAccount(server: ApiServer, dir: string, namespace: string, allowed: readonly AccessRule[]): string {
  const name = `account-${server.accounts.size}`;
  const token = randomUUID();
  server.accounts.set(token, { user: `system:serviceaccount:${namespace}:${name}`, rules: { namespace, allowed } });
  mkdirSync(join(dir, "accounts"), { recursive: true });
  const path = join(dir, "accounts", name);
  writeFileSync(path, kubeconfig(`http://127.0.0.1:${server.port}`, token, namespace), { mode: 0o600 });
  return path;
}

const ownPaths = (dir: string, ownDir: boolean): string[] =>
  ownDir ? [dir] : ["pods", "claims", "accounts", "kubeconfig"].map((name) => join(dir, name));

function leaveNothing({ dir, clusterId }: World, ownDir: boolean): void {
  killMarked(clusterMarker, clusterId);
  for (const path of ownPaths(dir, ownDir)) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

function createWorld(dir: string, options: PocketOptions): World {
  const store = new Store(options.historyLimit ?? 10_000);
  return {
    dir,
    clusterId: randomUUID(),
    store,
    timers: new Timers(),
    timings: timingsOf(options.timings),
    recorder: new EventRecorder(store),
    images: { ...options.images },
    state: { unschedulable: null, podRefused: null, imageErrors: new Map(), nodeLost: false, podsStay: false },
  };
}

function podLog(world: World, kubelet: Kubelet, namespace: string, pod: string, container?: string): string {
  const uid = kubelet.uids.get(`${namespace}/${pod}`);
  const spec = kubelet.specs.get(uid ?? "");
  if (uid === undefined || spec === undefined) return "";
  return readLog(world, uid, container ?? spec.containers[0]!.name);
}
