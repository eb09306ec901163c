import { randomBytes } from "node:crypto";
import type { Admin } from "./admin.ts";
import { until } from "./wait.ts";

/** A namespace for one test, gone with all that is in it. */
export interface Scratch {
  readonly namespace: string;
  create<T = unknown>(path: string, body: object): Promise<T>;
  /** Runs a pod to its end. */
  run(name: string, spec: object): Promise<PodEnd>;
  pod(name: string): Promise<Pod>;
  remove(): Promise<void>;
}

export interface PodEnd {
  readonly phase: string;
  readonly log: string;
  readonly pod: Pod;
}

export interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly containerStatuses?: readonly {
      readonly state: { readonly terminated?: { readonly reason: string; readonly exitCode: number } };
    }[];
  };
}

export async function scratch(admin: Admin): Promise<Scratch> {
  const namespace = `scratch-${randomBytes(4).toString("hex")}`;
  const base = `/api/v1/namespaces/${namespace}`;
  await admin.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await until("the default service account", 30, () => admin.request("GET", `${base}/serviceaccounts/default`));
  const pod = (name: string) => admin.request<Pod>("GET", `${base}/pods/${name}`);
  return {
    namespace,
    pod,
    create: (path, body) => admin.request("POST", path.startsWith("/") ? path : `${base}/${path}`, body),
    run: async (name, spec) => {
      await admin.request("POST", `${base}/pods`, { metadata: { name }, spec: { restartPolicy: "Never", ...spec } });
      const ended = await until(`the end of pod ${name}`, 50, async () => {
        const seen = await pod(name);
        return /Succeeded|Failed/.test(seen.status.phase) && seen;
      });
      const log = await admin.request<string>("GET", `${base}/pods/${name}/log`);
      return { phase: ended.status.phase, log, pod: ended };
    },
    remove: async () => {
      await admin.request("DELETE", base);
      await until(`the end of namespace ${namespace}`, 60, () =>
        admin.request("GET", base).then(
          () => false,
          () => true,
        ),
      );
    },
  };
}
