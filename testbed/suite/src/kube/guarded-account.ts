import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { KubeCluster } from "@paperclip-k8s/kube";
import type { Bed } from "../bed.ts";

const DEPLOY = fileURLToPath(new URL("../../../../deploy", import.meta.url));
const PATCH = { json: "application/json-patch+json", merge: "application/merge-patch+json" } as const;

/** A request of the account's, and what it is about. */
export interface Attempt {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly patch?: keyof typeof PATCH;
}

export interface Answer {
  readonly status: number;
  readonly message: string;
}

/** The server's account of deploy/, in a namespace of its own, whose runs are in the bed's. */
export interface GuardedAccount {
  /** Its kubeconfig. */
  readonly kubeconfig: string;
  /** Grants it more than deploy/ does. */
  grant(rules: readonly object[]): Promise<void>;
  /** What the API server says to a request of the account's; nothing is changed. */
  ask(attempt: Attempt): Promise<Answer>;
  /** Applies the admission policies of deploy/, and waits until they refuse all of these: each policy comes into force by itself. */
  guard(refused: readonly Attempt[]): Promise<void>;
  /** The admission policies as they are now. */
  policies(): Promise<readonly AdmissionPolicy[]>;
  /** Changes one of them, by a JSON patch. */
  change(policy: string, patch: readonly object[]): Promise<void>;
  remove(): Promise<void>;
}

interface AdmissionPolicy {
  readonly name: string;
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

export async function guardedAccount(cluster: KubeCluster, bed: Bed): Promise<GuardedAccount> {
  const server = `${bed.namespace}-server`;
  const files = await mkdtemp(join(tmpdir(), "deploy-"));
  const kubectl = (...args: string[]) => promisify(execFile)(cluster.kubectl, ["--kubeconfig", cluster.kubeconfig, ...args]);
  await cp(DEPLOY, files, { recursive: true });
  await promisify(execFile)("sh", [join(files, "rename.sh"), server, bed.namespace]);
  await cluster.admin.request("POST", "/api/v1/namespaces", { metadata: { name: server } });
  await kubectl("apply", "-f", join(files, "rbac.yaml"));
  const { status } = await cluster.admin.request<{ status: { token: string } }>(
    "POST",
    `/api/v1/namespaces/${server}/serviceaccounts/paperclip/token`,
    { spec: { expirationSeconds: 36_000 } },
  );
  const config = JSON.parse(await readFile(bed.kubeconfig, "utf8")) as Kubeconfig;
  const kubeconfig = join(files, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify({ ...config, users: [{ name: "bed", user: { token: status.token } }] }), { mode: 0o600 });
  const ask = (attempt: Attempt) => dryRun(config.clusters[0].cluster.server, status.token, attempt);
  return {
    kubeconfig,
    ask,
    grant: async (rules) => {
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${bed.namespace}`;
      const metadata = { name: "more" };
      await cluster.admin.request("POST", `${rbac}/roles`, { metadata, rules });
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "more" };
      const subjects = [{ kind: "ServiceAccount", name: "paperclip", namespace: server }];
      await cluster.admin.request("POST", `${rbac}/rolebindings`, { metadata, roleRef, subjects });
    },
    guard: async (refused) => {
      // As an operator does who has another claim.
      const jobs = join(files, "admission/jobs.yaml");
      await writeFile(jobs, (await readFile(jobs, "utf8")).replace(`"['paperclip-data']"`, `"['paperclip-data', 'data']"`));
      await kubectl("apply", "-k", join(files, "admission"));
      // One that is never refused is for the test to report.
      for (let round = 0; round < 50; round++) {
        const answers = await Promise.all(refused.map(ask));
        if (answers.every(({ status }) => status >= 300)) return;
        await sleep(200);
      }
    },
    policies: async () => {
      const { items } = await cluster.admin.request<{ items: { metadata: { name: string }; spec: AdmissionPolicy }[] }>("GET", POLICIES);
      const own = items.filter(({ metadata }) => metadata.name.startsWith(`${bed.namespace}-`));
      return own.map(({ metadata, spec }) => ({ name: metadata.name, validations: spec.validations }));
    },
    change: async (policy, patch) => void (await cluster.admin.request("PATCH", `${POLICIES}/${policy}`, patch, PATCH.json)),
    remove: async () => {
      await kubectl("delete", "--ignore-not-found", "-k", join(files, "admission"));
      await cluster.admin.request("DELETE", `/api/v1/namespaces/${server}`);
      await rm(files, { recursive: true, force: true });
    },
  };
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string } }];
}

async function dryRun(server: string, token: string, { method, path, body, patch = "merge" }: Attempt): Promise<Answer> {
  const type = method === "PATCH" ? PATCH[patch] : "application/json";
  const response = await fetch(`${server}${path}?dryRun=All`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { message = "" } = (await response.json()) as { message?: string };
  return { status: response.status, message };
}
