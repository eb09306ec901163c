import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Timers } from "../../clock.ts";
import { type Connection, connect } from "../connection.ts";
import { permissions } from "../permissions.ts";
import { findOwnPod, OwnPodError, ownPodIdentity, readOwnPod } from "./own-pod.ts";
import { projectOwnPod } from "./project-own-pod.ts";

const query = { namespace: "default", podName: "server-0", containers: ["server"] };
const retry = { minMs: 1, maxMs: 2, attempts: 2 };

const sidecar = { name: "proxy", image: "proxy:1", env: [{ name: "WRONG", value: "1" }] };
const server = {
  name: "server",
  image: "registry.test/server@sha256:abc",
  env: [
    { name: "LANG", value: "C.UTF-8" },
    { name: "EMPTY" },
    { name: "API_KEY", valueFrom: { secretKeyRef: { name: "keys", key: "api", optional: true } } },
  ],
  envFrom: [{ secretRef: { name: "all-keys" } }, { prefix: "CM_", configMapRef: { name: "settings", optional: true } }],
  volumeMounts: [
    { name: "data", mountPath: "/data/", subPath: "one" },
    { name: "data", mountPath: "/ro", readOnly: true },
    { name: "ca", mountPath: "/etc/certs", readOnly: true },
    { name: "ca", mountPath: "/etc/ca.pem", subPath: "ca.pem" },
    { name: "settings", mountPath: "/etc/settings" },
    { name: "tmp", mountPath: "/tmp" },
  ],
};
const spec = {
  // No node has this label: the pod is created, and nothing is started.
  nodeSelector: { pool: "servers" },
  containers: [sidecar, server],
  volumes: [
    { name: "data", persistentVolumeClaim: { claimName: "shared" } },
    { name: "ca", secret: { secretName: "corp-ca", items: [{ key: "ca", path: "ca.pem", mode: 0o440 }], defaultMode: 0o400 } },
    { name: "settings", configMap: { name: "settings", optional: true } },
    { name: "tmp", emptyDir: {} },
  ],
  imagePullSecrets: [{ name: "registry" }],
  dnsConfig: { options: [{ name: "ndots", value: "2" }] },
  tolerations: [
    { key: "pool", operator: "Equal", value: "servers", effect: "NoSchedule" },
    { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 },
  ],
};
const expected = {
  namespace: "default",
  podName: "server-0",
  container: "server",
  image: "registry.test/server@sha256:abc",
  env: [
    { name: "LANG", value: "C.UTF-8" },
    { name: "EMPTY", value: "" },
    { name: "API_KEY", valueFrom: { secretKeyRef: { name: "keys", key: "api", optional: true } } },
  ],
  envFrom: [
    { kind: "secret", name: "all-keys", prefix: "", optional: false },
    { kind: "configMap", name: "settings", prefix: "CM_", optional: true },
  ],
  claims: [
    { claimName: "shared", mountPath: "/data", subPath: "one", subPathExpr: null, readOnly: false },
    { claimName: "shared", mountPath: "/ro", subPath: null, subPathExpr: null, readOnly: true },
  ],
  secretVolumes: ["/etc/certs", "/etc/ca.pem"].map((mountPath, i) => ({
    name: "corp-ca",
    mountPath,
    subPath: i === 1 ? "ca.pem" : null,
    items: [{ key: "ca", path: "ca.pem", mode: 0o440 }],
    defaultMode: 0o400,
  })),
  configMapVolumes: [{ name: "settings", mountPath: "/etc/settings", subPath: null, items: null, defaultMode: null, optional: true }],
  otherMounts: [{ kind: "emptyDir", mountPath: "/tmp" }],
  imagePullSecrets: ["registry"],
  dnsPolicy: "ClusterFirst",
  dnsConfig: { options: [{ name: "ndots", value: "2" }] },
  nodeSelector: { pool: "servers" },
  tolerations: [spec.tolerations[0], spec.tolerations[2]],
};

describe("through the API", () => {
  let pocket: Pocket;
  let connection: Connection;
  let now: number;
  const clock: Timers = { now: () => now, after: () => () => {} };
  const gets = () => pocket.requests.filter(({ verb, resource }) => verb === "get" && resource === "pods").length;

  async function createPod(podSpec: object): Promise<void> {
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "server-0" }, spec: podSpec };
    await connection.request({ method: "POST", path: "/api/v1/namespaces/default/pods", body });
  }

  beforeEach(async () => {
    now = 0;
    pocket = await startPocket();
    connection = await connect({ kubeconfig: pocket.kubeconfig });
  });
  afterEach(async () => {
    connection.close();
    await pocket.stop();
  });

  test("the pod as the cluster has it, the container found by name behind a sidecar", async () => {
    await createPod(spec);
    expect(await readOwnPod(connection, query)).toEqual(expected);
  });

  test("one request a minute, however many runs ask, and within the permissions", async () => {
    await createPod(spec);
    await Promise.all(Array.from({ length: 20 }, () => readOwnPod(connection, query, { clock })));
    now = 59_999;
    await readOwnPod(connection, query, { clock });
    expect(gets()).toBe(1);
    now = 60_000;
    await readOwnPod(connection, query, { clock });
    expect(gets()).toBe(2);
    expect(permissions).toContainEqual(expect.objectContaining({ verb: "get", resource: "pods", required: false }));
  });

  test("another pod is another question", async () => {
    await createPod(spec);
    await readOwnPod(connection, query, { clock });
    await expect(readOwnPod(connection, { ...query, podName: "server-1" }, { clock })).rejects.toMatchObject({ code: "own_pod_not_found" });
  });

  test("an API server that cannot answer: yesterday's answer, or the error, and the next one asks again", async () => {
    await createPod(spec);
    pocket.faults.fail({ verb: "get", resource: "pods" }, { status: 503, times: 2 });
    await expect(readOwnPod(connection, query, { clock, retry })).rejects.toMatchObject({ httpStatus: 503 });
    expect(await readOwnPod(connection, query, { clock, retry })).toEqual(expected);
    now = 70_000;
    pocket.faults.fail({ verb: "get", resource: "pods" }, { status: 503, times: 4 });
    for (let i = 0; i < 2; i++) expect(await readOwnPod(connection, query, { clock, retry })).toEqual(expected);
    expect(gets()).toBe(7);
  });

  test("without the permission: said once a minute, and what is missing", async () => {
    await createPod(spec);
    pocket.faults.deny({ verb: "get", resource: "pods" });
    for (let i = 0; i < 3; i++) await expect(readOwnPod(connection, query, { clock })).rejects.toThrow(/grant "get" on "pods"/);
    expect(gets()).toBe(1);
  });

  test("found by this process's environment; unknown for reasons that settings can make up for", async () => {
    const cluster = { kubeconfig: pocket.kubeconfig };
    const env = { POD_NAME: "server-0", POD_NAMESPACE: "default" };
    const missing = await findOwnPod(cluster, { env, containers: ["server"], clock });
    expect(missing).toEqual({ pod: null, why: expect.stringContaining("set POD_NAME") });
    await createPod(spec);
    now = 60_000;
    expect(await findOwnPod(cluster, { env, containers: ["server"], clock })).toEqual({ pod: expected });
    expect(await findOwnPod(cluster, { env: { HOSTNAME: "laptop" }, containers: [], clock })).toMatchObject({ pod: null });
    await expect(findOwnPod(cluster, { env, containers: ["other"], clock })).rejects.toThrow(OwnPodError);
  });

  test("several containers and none of a known name: never a guess, all are named", async () => {
    await createPod(spec);
    const asked = readOwnPod(connection, { ...query, containers: ["main", "app"] });
    await expect(asked).rejects.toThrow(/has the containers proxy, server; none is named main or app/);
    await expect(asked).rejects.toMatchObject({ code: "own_pod_container_unknown" });
  });

  test("an only container needs no name", async () => {
    await createPod({ ...spec, containers: [server] });
    expect(await readOwnPod(connection, { ...query, containers: [] })).toMatchObject({ container: "server" });
  });
});

test.each([
  ["in the order of the candidates", ["b", "a"], "b"],
  ["a later one when the first is not there", ["x", "a"], "a"],
])("the container: %s", (_, candidates, found) => {
  const raw = { metadata: { name: "p" }, spec: { containers: [{ name: "a" }, { name: "b" }] } };
  expect(projectOwnPod(raw, candidates)).toMatchObject({ pod: { container: found } });
});

test("foreign data does not throw", () => {
  for (const raw of [null, "text", {}, { spec: { containers: "x" } }]) expect(projectOwnPod(raw, ["a"])).toEqual({ containers: [] });
  const odd = {
    spec: { containers: [{ env: [null, { name: 1 }], envFrom: [{}], volumeMounts: [{ name: "none" }] }], volumes: 7, tolerations: {} },
  };
  expect(projectOwnPod(odd, [])).toMatchObject({ pod: { image: "", envFrom: [], otherMounts: [{ kind: "unknown", mountPath: "" }] } });
});

describe("which pod this is", () => {
  const inCluster = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };
  const mounted = (namespace: string) => async () => namespace;
  const none = async () => null;
  test.each<[string, NodeJS.ProcessEnv, () => Promise<string | null>, unknown]>([
    ["the downward API", { ...inCluster, POD_NAME: "a", POD_NAMESPACE: "n", HOSTNAME: "h" }, none, { podName: "a", namespace: "n" }],
    ["host name and mounted namespace", { ...inCluster, HOSTNAME: "h" }, mounted("n\n"), { podName: "h", namespace: "n" }],
    ["empty variables count as none", { ...inCluster, POD_NAME: "", HOSTNAME: "h" }, mounted("n"), { podName: "h", namespace: "n" }],
    ["given, without the cluster's own variables", { POD_NAME: "a", POD_NAMESPACE: "n" }, none, { podName: "a", namespace: "n" }],
    ["a machine's host name", { HOSTNAME: "laptop" }, mounted("n"), null],
    ["no namespace to be had", { ...inCluster, HOSTNAME: "h" }, none, null],
    ["no name to be had", inCluster, mounted("n"), null],
  ])("%s", async (_, env, namespace, expected) => {
    expect(await ownPodIdentity(env, namespace)).toEqual(expected);
  });
});
