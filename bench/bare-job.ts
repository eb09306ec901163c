import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KubeConfig, type V1Job } from "@kubernetes/client-node";
import type { Bed } from "../testbed/suite/src/bed.ts";

export interface BareJobs {
  /** Milliseconds from the request to the first act of the program in it. */
  start(): Promise<number>;
}

const PATIENCE_MS = 60_000;

/** What any Job of this image costs on this cluster: same image, user and volume, nothing of ours. */
export async function openBareJobs(bed: Bed): Promise<BareJobs> {
  const folder = join(bed.data, "bare-jobs");
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  const request = openJobs(bed);
  const start = async (): Promise<number> => {
    const name = `bare-${randomUUID()}`;
    const file = join(folder, name);
    const askedAt = Date.now();
    await request("POST", "", bareJob(bed, name, file));
    const startedAt = await stampIn(file);
    await request("DELETE", `/${name}`, { propagationPolicy: "Background" });
    return startedAt - askedAt;
  };
  // The first request pays for the connection.
  await start();
  return { start };
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

function bareJob(bed: Bed, name: string, file: string): V1Job {
  const program = `const at = Date.now(); require("node:fs").writeFileSync(${JSON.stringify(file)}, String(at));`;
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

async function stampIn(file: string): Promise<number> {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text !== "") return Number(text);
    await sleep(20);
  }
  throw new Error(`a bare Job has not started after ${PATIENCE_MS / 1000} s`);
}
