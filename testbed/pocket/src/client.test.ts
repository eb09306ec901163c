import { BatchV1Api, CoreV1Api, KubeConfig, setHeaderOptions, VersionApi, Watch } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import { endedJob, gatedCommand, images, until } from "./test-client.ts";

// The official client cannot tell: it reads the kubeconfig, authenticates, and parses what comes back.

let cluster: Pocket;
let config: KubeConfig;

beforeAll(async () => {
  cluster = await startPocket({ images });
  cluster.createNamespace("agents");
  config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
});
afterAll(() => cluster.stop());

const job = (name: string, command: string[]) => ({
  metadata: { name, labels: { run: name } },
  spec: { backoffLimit: 0, template: { spec: { restartPolicy: "Never", containers: [{ name: "agent", image: "agent:1", command }] } } },
});

test.concurrent("creates, reads, lists, patches and deletes a Job", async () => {
  const batch = config.makeApiClient(BatchV1Api);
  const made = await batch.createNamespacedJob({ namespace: "agents", body: job("client", ["sh", "-c", "exit 0"]) });
  expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);

  await endedJob(cluster, "agents", "client");
  const read = await batch.readNamespacedJob({ namespace: "agents", name: "client" });
  expect(read.status?.conditions?.map(({ type }) => type)).toEqual(["SuccessCriteriaMet", "Complete"]);
  expect(read.status).toMatchObject({ succeeded: 1, terminating: 0, ready: 0 });
  expect(read.status?.completionTime).toBeInstanceOf(Date);

  const listed = await batch.listNamespacedJob({ namespace: "agents", labelSelector: "run=client" });
  expect(listed.items.map((item) => item.metadata?.name)).toEqual(["client"]);
  expect((await batch.listNamespacedJob({ namespace: "agents", labelSelector: "run=other" })).items).toEqual([]);

  const body = [{ op: "add", path: "/metadata/labels/seen", value: "yes" }];
  const patched = await batch.patchNamespacedJob({ namespace: "agents", name: "client", body });
  expect(patched.metadata?.labels).toEqual({ run: "client", seen: "yes" });
  const merged = await batch.patchNamespacedJob(
    { namespace: "agents", name: "client", body: { metadata: { labels: { seen: null } } } },
    setHeaderOptions("Content-Type", "application/merge-patch+json"),
  );
  expect(merged.metadata?.labels).toEqual({ run: "client" });

  await batch.deleteNamespacedJob({ namespace: "agents", name: "client", propagationPolicy: "Background" });
  await expect(batch.readNamespacedJob({ namespace: "agents", name: "client" })).rejects.toMatchObject({ code: 404 });
});

test.concurrent("an error carries the code and the Status body", async () => {
  const core = config.makeApiClient(CoreV1Api);
  const body = { metadata: { name: "twice" }, stringData: { a: "b" } };
  const first = await core.createNamespacedSecret({ namespace: "agents", body });
  expect(first.data).toEqual({ a: "Yg==" });
  const error = await core
    .createNamespacedSecret({ namespace: "agents", body })
    .catch((caught: unknown) => caught as { code: number; body: string });
  expect(error).toMatchObject({ code: 409 });
  expect(JSON.parse((error as { body: string }).body)).toMatchObject({ kind: "Status", reason: "AlreadyExists" });
});

test.concurrent("watches pods through the client's own watch", async () => {
  const seen: string[] = [];
  const ended = Promise.withResolvers<unknown>();
  const onEvent = (type: string, pod: { status: { phase: string } }) => seen.push(`${type} ${pod.status.phase}`);
  const controller = await new Watch(config).watch(
    "/api/v1/namespaces/agents/pods",
    { labelSelector: "job-name=seen" },
    onEvent,
    ended.resolve,
  );
  const batch = config.makeApiClient(BatchV1Api);
  const { command, letGo } = gatedCommand("exit 0");
  await batch.createNamespacedJob({ namespace: "agents", body: job("seen", ["sh", "-c", command]) });
  // A pod that is over at once may be seen to succeed without having been seen to run.
  await until(() => seen.includes("MODIFIED Running"), "the running pod");
  letGo();
  await until(() => seen.includes("MODIFIED Succeeded"), "the pod's success");
  expect(seen[0]).toBe("ADDED Pending");
  expect(seen).toContain("MODIFIED Running");
  controller.abort();
  await ended.promise;
});

test.concurrent("reads logs and the version", async () => {
  const batch = config.makeApiClient(BatchV1Api);
  const core = config.makeApiClient(CoreV1Api);
  await batch.createNamespacedJob({ namespace: "agents", body: job("logs", ["sh", "-c", "echo one; echo two >&2"]) });
  await endedJob(cluster, "agents", "logs");
  const [pod] = (await core.listNamespacedPod({ namespace: "agents", labelSelector: "job-name=logs" })).items;
  const name = pod!.metadata!.name!;
  expect(await core.readNamespacedPodLog({ namespace: "agents", name })).toBe("one\ntwo\n");
  expect(await core.readNamespacedPodLog({ namespace: "agents", name, tailLines: 1 })).toBe("two\n");
  expect((await config.makeApiClient(VersionApi).getCode()).minor).toBe("34");
});

test.concurrent("works through a namespace of its own making", async () => {
  const core = config.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: "made" } } });
  await core.createNamespacedConfigMap({ namespace: "made", body: { metadata: { name: "c" }, data: { a: "b" } } });
  await until(() => cluster.get("serviceaccounts", "made", "default"), "the default account");
  await core.deleteNamespace({ name: "made" });
  await until(() => !cluster.get("configmaps", "made", "c"), "its content deleted");
  const missing = core.createNamespacedConfigMap({ namespace: "made", body: { metadata: { name: "c" } } });
  await expect(missing).rejects.toMatchObject({ code: 404 });
});
