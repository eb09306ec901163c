import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeConfig, type V1Job } from "@kubernetes/client-node";
import type { Bed } from "../testbed/suite/src/bed.ts";

export interface BareJobs {
  /** So many at once, each of which goes on for so long: milliseconds from each request to the first act of the program in it. */
  start(count: number, lastsMs: number): Promise<number[]>;
  /** One that does nothing for so long; resolves to its name when its program has begun. */
  idle(ms: number): Promise<string>;
  remove(name: string): Promise<void>;
}

const LIMIT_MS = 120_000;
const LOOK_MS = 50;

/** What any Job of this image costs on this cluster: same image, user and volume, nothing of ours. */
export async function openBareJobs(bed: Bed): Promise<BareJobs> {
  const folder = join(bed.data, "bare-jobs");
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  const request = openJobs(bed);
  const create = async (lastsMs: number): Promise<string> => {
    const name = `bare-${randomUUID()}`;
    await request("POST", "", bareJob(bed, name, join(folder, name), lastsMs));
    return name;
  };
  const remove = (name: string) => request("DELETE", `/${name}`, { propagationPolicy: "Background" });
  const start = async (count: number, lastsMs: number): Promise<number[]> => {
    const begun = await Promise.all(Array.from({ length: count }, async () => ({ askedAt: Date.now(), name: await create(lastsMs) })));
    const stamps = await stampsIn(
      folder,
      begun.map(({ name }) => name),
    );
    await Promise.all(begun.map(({ name }) => remove(name)));
    return begun.map(({ name, askedAt }) => stamps.get(name)! - askedAt);
  };
  // The first request pays for the connection.
  await start(1, 0);
  return {
    start,
    remove,
    idle: async (ms) => {
      const name = await create(ms);
      await stampsIn(folder, [name]);
      return name;
    },
  };
}

type Request = (method: "POST" | "DELETE", path: string, body: object) => Promise<void>;

/** Plain requests, so that nothing but the cluster's own time is compared. */
function openJobs(bed: Bed): Request {
  const config = new KubeConfig();
  config.loadFromFile(bed.kubeconfig);
  const jobs = `${config.getCurrentCluster()?.server}/apis/batch/v1/namespaces/${bed.namespace}/jobs`;
  const headers = { authorization: `Bearer ${config.getCurrentUser()?.token}`, "content-type": "application/json" };
  return async (method, path, body) => {
    const answer = await fetch(jobs + path, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} of a bare Job: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
}

function bareJob(bed: Bed, name: string, file: string, lastsMs: number): V1Job {
  const stamp = `const at = Date.now(); require("node:fs").writeFileSync(${JSON.stringify(file)}, String(at));`;
  const program = lastsMs === 0 ? stamp : `${stamp} setTimeout(() => {}, ${lastsMs});`;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: "Never",
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, seccompProfile: { type: "RuntimeDefault" } },
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
          containers: [
            {
              name: "bench",
              image: bed.images.agent,
              imagePullPolicy: "IfNotPresent",
              command: ["node", "-e", program],
              resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "2", memory: "1Gi" } },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
              volumeMounts: [{ name: "data", mountPath: bed.data }],
            },
          ],
        },
      },
    },
  };
}

/** What each of them has written; looking seldom costs nothing, because the stamp is in the file. */
async function stampsIn(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const stamps = new Map<string, number>();
  const end = Date.now() + LIMIT_MS;
  while (stamps.size < names.length) {
    if (Date.now() > end) throw new Error(`of ${names.length} bare Jobs ${stamps.size} have started after ${LIMIT_MS / 1000} s`);
    await sleep(LOOK_MS);
    const there = new Set(await readdir(folder));
    for (const name of names) {
      const text = there.has(name) && !stamps.has(name) ? await readFile(join(folder, name), "utf8") : "";
      if (text !== "") stamps.set(name, Number(text));
    }
  }
  return stamps;
}
