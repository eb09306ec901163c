import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { permissions } from "@paperclip-k8s/engine";
import { type Fault, type Pocket, type PocketOptions, startPocket } from "@paperclip-k8s/pocket";
import type { Bed } from "./bed.ts";
import type { BedFaults, Trouble } from "./bed-faults.ts";
import { remembered } from "./calm.ts";

const NAMESPACE = "agents";
const BIN = join(fileURLToPath(new URL("../../..", import.meta.url)), "node_modules/.bin");

export async function startPocketBed(options: PocketOptions): Promise<Bed> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "bed-")));
  const path = [BIN, dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  const cluster = await startPocket({ images: { "agent:1": { path } }, ...options });
  cluster.createNamespace(NAMESPACE, { "pod-security.kubernetes.io/enforce": "restricted" });
  const addVolume = async (claim: string) => {
    const folder = await mkdtemp(join(root, `${claim}-`));
    cluster.createClaim(NAMESPACE, claim, folder);
    return folder;
  };
  const data = await addVolume("data");
  return {
    kind: "pocket",
    pocket: cluster,
    namespace: NAMESPACE,
    kubeconfig: cluster.createAccount(NAMESPACE, permissions),
    data,
    images: { agent: "agent:1", missing: "nowhere:1" },
    hostAddress: "127.0.0.1",
    faults: remembered(pocketFaults(cluster)),
    requests: cluster.requests,
    get connections() {
      return cluster.connections;
    },
    addVolume,
    // It makes as many as are asked for.
    addStorageClass: async () => "pocket",
    account: async (permissions) => cluster.createAccount(NAMESPACE, permissions),
    list: async (kind) => cluster.list(kind, NAMESPACE),
    relabel: async (kind, name, labels) => {
      const group = kind === "jobs" ? "apis/batch/v1" : "api/v1";
      const answer = await fetch(`${cluster.url}/${group}/namespaces/${NAMESPACE}/${kind}/${name}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${cluster.token}`, "content-type": "application/merge-patch+json" },
        body: JSON.stringify({ metadata: { labels } }),
      });
      if (!answer.ok) throw new Error(`${kind} ${name}: ${answer.status} ${await answer.text()}`);
    },
    podLog: async (pod) => cluster.podLog(NAMESPACE, pod),
    stop: async () => {
      await cluster.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const lasting = (fault: Fault): Trouble => ({ undo: async () => fault.undo() });

function pocketFaults({ faults }: Pocket): BedFaults {
  return {
    fail: (match, options) => faults.fail(match, options),
    hang: (match, options) => faults.hang(match, options),
    delay: (match, ms, options) => faults.delay(match, ms, options),
    drop: (match, options) => faults.drop(match, options),
    down: () => faults.down(),
    up: () => faults.up(),
    cutWatches: () => faults.cutWatches(),
    silenceWatches: () => faults.silenceWatches(),
    duplicateEvents: () => faults.duplicateEvents(),
    expireHistory: (options) => faults.expireHistory(options),
    oom: async (pod, { trigger, victim }) => {
      await writeFile(trigger, "");
      // The kernel would pick the largest process: the hoarder must have become it.
      await sleep(500);
      faults.oom(NAMESPACE, pod, victim);
    },
    killRunner: (_pod, { trigger }) => writeFile(trigger, ""),
    evict: async (pod) => faults.evict(NAMESPACE, pod),
    preempt: async (pod) => faults.preempt(NAMESPACE, pod),
    deletePod: async (pod, options) => faults.deletePod(NAMESPACE, pod, options),
    deleteJob: async (job, propagation) => faults.deleteJob(NAMESPACE, job, propagation),
    loseNode: async (options) => lasting(faults.loseNode(options)),
    loseVolume: async (claim) => faults.loseVolume(NAMESPACE, claim),
    unschedulable: async () => lasting(faults.unschedulable()),
    noPods: async (why) => lasting(faults.noPods(why)),
  };
}
