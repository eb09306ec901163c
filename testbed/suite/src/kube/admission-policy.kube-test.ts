import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunRequest } from "@paperclip-k8s/engine";
import { openCluster } from "@paperclip-k8s/kube";
import type { KubeObject } from "@paperclip-k8s/pocket";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { loadKits } from "../../../../packages/adapters.ts";
import { RUN_KEYS, SELECTOR } from "../../../../packages/paperclip/src/host/keys.ts";
import { type Bed, startBed } from "../bed.ts";
import { calm } from "../calm.ts";
import { relayTo } from "../relay-request.ts";
import { gatedScript, type RunHandle, startRun } from "../run.ts";
import { attempts } from "./admission-attempts.ts";
import { type Answer, type GuardedAccount, guardedAccount } from "./guarded-account.ts";

// Only a real API server evaluates the admission policies of deploy/. The account is the one of deploy/rbac.yaml, in a namespace of its own.

const cluster = openCluster();
const withClaims = Object.values(await loadKits()).flatMap(({ cli: { jobPrefix: job, state } }) =>
  state?.claim === undefined ? [] : [{ job, claim: state.claim.prefix }],
);
const prefixes = withClaims[0]!;
let bed: Bed;
let account: GuardedAccount;
let api: Server;
let live: RunHandle;
let release: () => Promise<void>;
let storageClass: string;
/** The token of each request that reached the host's API. */
const tokens: string[] = [];
/** What the API server said before there were policies. */
const unguarded = new Map<string, Answer>();

beforeAll(async () => {
  bed = await startBed();
  storageClass = await bed.addStorageClass(1);
  account = await guardedAccount(cluster, bed);
  // More than deploy/ grants, to show that the policies hold without RBAC.
  await account.grant([
    { apiGroups: [""], resources: ["pods", "configmaps", "secrets"], verbs: ["create", "delete"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["delete"] },
  ]);
  api = createServer((request, response) => {
    tokens.push(request.headers.authorization ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => api.listen(0, bed.hostAddress, resolve));
  const gated = gatedScript(bed);
  release = gated.release;
  // Faults of its own: what ends the runs of each test leaves it alone.
  live = startRun({ ...guarded(), faults: { ...bed.faults } }, { script: gated.script, change: (request) => ofAgent(request, "live") });
  await live.saw("on\n");
  await makeBystanders();
  for (const { name, ...attempt } of await requests()) unguarded.set(name, await account.ask(attempt));
  await account.guard((await requests()).filter(({ says }) => says !== null));
});
afterEach(() => calm(bed));
afterAll(async () => {
  live.cancel();
  await live.done;
  api.close();
  await account.remove();
  await bed.stop();
  cluster.close();
});

const guarded = (): Bed => ({ ...bed, kubeconfig: account.kubeconfig });

/** A run as an adapter makes it: its names, labels and annotations. */
function ofAgent(request: RunRequest, part: string): RunRequest {
  const token = `token-of-${request.runId}`;
  return {
    ...request,
    name: { prefix: prefixes.job, parts: [part], identity: part },
    exclusive: part,
    labels: {
      "app.kubernetes.io/managed-by": "paperclip",
      "app.kubernetes.io/component": "agent-job",
      "paperclip.io/run-id": request.runId,
    },
    keys: RUN_KEYS,
    selector: SELECTOR,
    env: { ...request.env, secret: { API_TOKEN: token } },
    relay: relayTo(`http://${bed.hostAddress}:${(api.address() as AddressInfo).port}`, request, token),
  };
}

/** What stands in the namespace and is not a run's. */
async function makeBystanders(): Promise<void> {
  const core = `/api/v1/namespaces/${bed.namespace}`;
  const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  const pod = {
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
    containers: [{ name: "main", image: bed.images.agent, securityContext: restricted }],
  };
  await cluster.admin.request("POST", `${core}/secrets`, { metadata: { name: "bystander" }, stringData: { key: "x" } });
  // The Job is suspended and the pod has no node: neither runs.
  await cluster.admin.request("POST", `/apis/batch/v1/namespaces/${bed.namespace}/jobs`, {
    metadata: { name: "bystander" },
    spec: { suspend: true, template: { spec: { ...pod, restartPolicy: "Never" } } },
  });
  await cluster.admin.request("POST", `${core}/pods`, {
    metadata: { name: "bystander" },
    spec: { ...pod, nodeSelector: { nowhere: "yes" } },
  });
}

async function requests(): Promise<ReturnType<typeof attempts>> {
  const of = async (kind: "jobs" | "pods" | "secrets"): Promise<KubeObject> => {
    const found = (await bed.list(kind)).find(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === live.request.runId);
    if (found === undefined) throw new Error(`the live run has none of the ${kind}`);
    return found;
  };
  return attempts({ job: await of("jobs"), pod: await of("pods"), secret: await of("secrets"), storageClass, prefixes });
}

test("a run goes from start to end, is taken over with a new token, and its Job is deleted", async () => {
  const script = `console.log("on"); setInterval(() => fetch(process.env.API_URL + "/x", {
    headers: { authorization: "Bearer " + process.env.API_TOKEN } }).catch(() => {}), 100)`;
  const options = {
    script,
    change: (request: RunRequest) => ofAgent(request, "adopted"),
    onLockConflict: async () => ({ kind: "adopt" }) as const,
  };
  const first = startRun(guarded(), options);
  await first.saw("on\n");
  const second = startRun(guarded(), options);
  await second.saw("on\n");
  await expect.poll(() => tokens.at(-1)).toBe(`Bearer token-of-${second.request.runId}`);
  const relabelled = async () => (await bed.list("pods")).map(({ metadata }) => metadata.labels?.["paperclip.io/run-id"]);
  await expect.poll(relabelled).toContain(second.request.runId);
  second.cancel();
  expect((await second.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
  expect((await first.done).outcome).toMatchObject({ kind: "superseded" });
  expect(second.status.filter(({ level }) => level === "warning")).toEqual([]);
});

test("a run with a claim of its own: the claim and the Job that gives it to the pod's user are admitted", async () => {
  const create = { storageClass, capacity: "1Gi", labels: {} };
  const claims = [{ claimName: `${prefixes.claim}agent-1`, mountPath: "/agent/state", create, setOwnership: false }];
  const change = (request: RunRequest) => ({ ...ofAgent(request, "claim"), volumes: { ...request.volumes, claims } });
  const { outcome, output } = await startRun(guarded(), { script: `console.log("done")`, change }).done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("done\n");
});

test("a run with a pod template: a sidecar, an init container and a volume are admitted", async () => {
  const part = { image: bed.images.agent, volumeMounts: [{ name: "notes", mountPath: "/notes" }] };
  const template = {
    initContainers: [{ name: "first", ...part, command: ["node", "-e", `require("node:fs").writeFileSync("/notes/first", "done")`] }],
    sidecars: [{ name: "beside", ...part, command: ["node", "-e", "setInterval(() => {}, 1000)"] }],
    volumes: [{ name: "notes", emptyDir: {} }],
    volumeMounts: [{ name: "notes", mountPath: "/notes" }],
    env: [],
  };
  const change = (request: RunRequest) => ({ ...ofAgent(request, "template"), template });
  const { outcome, output } = await startRun(guarded(), {
    script: `console.log(require("node:fs").readFileSync("/notes/first", "utf8"))`,
    change,
  }).done;
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("done\n");
});

test("a run whose Job is refused says so in the policy's words, and nothing is left", async () => {
  const change = (request: RunRequest): RunRequest => ({
    ...ofAgent(request, "refused"),
    scheduling: { ...request.scheduling, serviceAccountName: "paperclip" },
  });
  const { outcome } = await startRun(guarded(), { script: "", change }).done;
  expect(outcome).toMatchObject({ kind: "never-started", message: expect.stringContaining("service account paperclip is not for agents") });
  expect((await bed.list("jobs")).filter(({ metadata }) => metadata.name.includes("refused"))).toEqual([]);
});

test("refused: what the account could do before, each in words of ours", async () => {
  const made = await requests();
  expect(made.length).toBeGreaterThan(30);
  const answers = await Promise.all(made.map(async ({ name, ...attempt }) => [name, await account.ask(attempt)] as const));
  const said = Object.fromEntries(
    answers.map(([name, { status, message }]) => [name, `${status} ${message.split("denied request: ")[1] ?? message}`]),
  );
  const wanted = Object.fromEntries(
    made.map(({ name, says }) => [
      name,
      says === null ? expect.stringMatching(/^20[01] /) : expect.stringContaining(`403 paperclip: ${says}`),
    ]),
  );
  expect(said).toEqual(wanted);
});

test("refused by nobody else: without the policies the API server accepts each of them", () => {
  expect(Object.fromEntries([...unguarded].filter(([, { status }]) => status >= 300))).toEqual({});
});

// Some minutes: each change of a policy takes the API server a second or more.
test.runIf(process.env.LONG)("each rule is needed: without it, what it refuses is admitted", { timeout: 900_000 }, async () => {
  const refused = (await requests()).filter(({ says }) => says !== null);
  const policies = await account.policies();
  const admitted: string[] = [];
  for (let index = 0; index < Math.max(...policies.map(({ validations }) => validations.length)); index++) {
    // One rule of each policy at a time: no two policies look at the same request.
    const changed = policies.flatMap(({ name, validations }) => validations.slice(index, index + 1).map((rule) => ({ name, rule })));
    const write = (name: string, value: string) =>
      account.change(name, [{ op: "replace", path: `/spec/validations/${index}/expression`, value }]);
    await Promise.all(changed.map(({ name }) => write(name, "true")));
    const its = refused.filter(({ says }) => changed.some(({ rule }) => isAbout(rule.message, says!)));
    const stillRefused = async () => {
      const answers = await Promise.all(its.map(async (attempt) => [attempt.name, (await account.ask(attempt)).status] as const));
      return answers.filter(([, status]) => status >= 300);
    };
    await expect.poll(stillRefused).toEqual([]);
    await Promise.all(changed.map(({ name, rule }) => write(name, rule.expression)));
    admitted.push(...its.map(({ name }) => name));
  }
  expect(admitted.sort()).toEqual(refused.map(({ name }) => name).sort());
});

/** A message that names an object has a plain form without it. */
function isAbout(message: string, says: string): boolean {
  const plain = Object.entries({
    "service account paperclip is not": "uses a service account that is not",
    "volume more is neither": "a volume is neither",
    "the Job mounts Secret": "the Job mounts a Secret",
    "claim postgres-data is not": "the Job mounts a claim",
  });
  const [, found = says] = plain.find(([named]) => says.startsWith(named)) ?? [];
  return message.includes(found);
}

test("the live run, started before the policies, ends under them", async () => {
  await release();
  expect((await live.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
});
