import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import { call, createJob, endedJob, images, jobs, messagesAbout, podOf, secrets, shellJob, until } from "./test-client.ts";

// What a pod needs before it runs, and how its absence looks.

let cluster: Pocket;
const ns = "starts";

beforeAll(async () => {
  const timings = { imageBackoff: 300, retry: 60_000, createRetry: 50, secretRefresh: 400, secretRefreshOnPodChange: 50 };
  cluster = await startPocket({ images, timings, nodeLabels: { disk: "fast" }, capacity: { cpu: "4" } });
  cluster.createNamespace(ns);
});
afterAll(() => cluster.stop());

const waiting = (job: string) => podOf(cluster, ns, job)?.status.containerStatuses?.[0]?.state.waiting;
const waits = (job: string, reason: string) =>
  until(() => (waiting(job)?.reason === reason ? waiting(job) : undefined), `${job}: ${reason}`);
const podName = (job: string) => podOf(cluster, ns, job)!.metadata.name;
const logOf = (job: string) => cluster.podLog(ns, podName(job));
const createSecret = (name: string, stringData: object) => call(cluster, "POST", secrets(ns), { metadata: { name }, stringData });
const mounted = (secretName: string, extra = {}) => ({
  pod: { volumes: [{ name: "s", secret: { secretName, ...extra } }] },
  container: { volumeMounts: [{ name: "s", mountPath: "/in" }] },
});

describe.concurrent("never starts", () => {
  test("unknown image: ErrImagePull, then ImagePullBackOff; the Job stays active", async () => {
    await createJob(cluster, ns, "no-image", "true", { container: { image: "localhost/missing:1" } });
    const cause =
      'failed to pull and unpack image "localhost/missing:1": failed to resolve reference "localhost/missing:1": failed to do request: Head "http://localhost/v2/missing/manifests/1": dial tcp 127.0.0.1:80: connect: connection refused';
    expect((await waits("no-image", "ErrImagePull")).message).toBe(cause);
    const backOff = await waits("no-image", "ImagePullBackOff");
    expect(backOff.message).toBe(`Back-off pulling image "localhost/missing:1": ErrImagePull: ${cause}`);
    expect(cluster.get("jobs", ns, "no-image")?.status).toMatchObject({ active: 1, terminating: 0, ready: 0 });
    expect(cluster.get("jobs", ns, "no-image")?.status.conditions).toBeUndefined();
    expect(messagesAbout(cluster, ns, podName("no-image"))).toEqual(
      expect.arrayContaining(["Failed: Error: ErrImagePull", "Failed: Error: ImagePullBackOff"]),
    );
  });

  test("pull policy Never, and a name that is none", async () => {
    await createJob(cluster, ns, "never-pull", "true", { container: { image: "localhost/missing:1", imagePullPolicy: "Never" } });
    await createJob(cluster, ns, "bad-name", "true", { container: { image: "Bad Name:::1" } });
    const never = await waits("never-pull", "ErrImageNeverPull");
    expect(never.message).toBe('Container image "localhost/missing:1" is not present with pull policy of Never');
    const bad = await waits("bad-name", "InvalidImageName");
    expect(bad.message).toBe(
      'Failed to apply default image tag "Bad Name:::1": couldn\'t parse image name "Bad Name:::1": invalid reference format: repository name (library/Bad Name) must be lowercase',
    );
  });

  const preemption = "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
  test.each([
    ["cpu", { container: { resources: { requests: { cpu: "100" } } } }, `1 Insufficient cpu. ${preemption}`],
    ["selector", { pod: { nodeSelector: { disk: "slow" } } }, `1 node(s) didn't match Pod's node affinity/selector. ${preemption}`],
    [
      "claim",
      { pod: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "missing" } }] } },
      'persistentvolumeclaim "missing" not found. not found',
    ],
    [
      "unbound",
      { pod: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "unbound" } }] } },
      "pod has unbound immediate PersistentVolumeClaims. not found",
    ],
  ])("unschedulable: %s", async (name, options, why) => {
    if (name === "unbound") cluster.createClaim(ns, "unbound", "/nowhere", { bound: false });
    await createJob(cluster, ns, name, "true", options);
    const condition = await until(() => podOf(cluster, ns, name)?.status.conditions?.[0], "a condition");
    expect(condition).toMatchObject({
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message: `0/1 nodes are available: ${why}`,
    });
    expect(podOf(cluster, ns, name)?.spec.nodeName).toBeUndefined();
    expect(messagesAbout(cluster, ns, podName(name))).toEqual([`FailedScheduling: 0/1 nodes are available: ${why}`]);
  });

  test("a namespace that enforces restricted warns about the Job and refuses the pod", async () => {
    cluster.createNamespace("strict", { "pod-security.kubernetes.io/enforce": "restricted" });
    const privileged = { securityContext: { privileged: true, runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } };
    const reply = await call(cluster, "POST", jobs("strict"), shellJob("denied", "true", { container: privileged }));
    const violations =
      'violate PodSecurity "restricted:latest": privileged (container "agent" must not set securityContext.privileged=true), allowPrivilegeEscalation != false (container "agent" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "agent" must set securityContext.capabilities.drop=["ALL"])';
    expect(reply.status).toBe(201);
    expect(reply.headers.get("warning")).toBe(`299 - ${JSON.stringify(`would ${violations}`)}`);
    const messages = await until(() => {
      const found = messagesAbout(cluster, "strict", "denied");
      return found.length >= 3 ? found : undefined;
    }, "FailedCreate events");
    expect(messages[0]).toMatch(/^FailedCreate: Error creating: pods "denied-[a-z0-9]{5}" is forbidden: violates PodSecurity/);
    expect(messages[0]).toContain(violations.slice(8));
    expect(cluster.get("jobs", "strict", "denied")?.status).toEqual({
      startTime: expect.any(String),
      terminating: 0,
      ready: 0,
      uncountedTerminatedPods: {},
    });
    const allowed = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    };
    const good = await call(cluster, "POST", jobs("strict"), shellJob("allowed", "true", { container: { securityContext: allowed } }));
    expect(good.headers.get("warning")).toBeNull();
    await endedJob(cluster, "strict", "allowed");
  });

  test("a service account that does not exist", async () => {
    await createJob(cluster, ns, "no-account", "true", { pod: { serviceAccountName: "missing" } });
    const [message] = await until(() => {
      const found = messagesAbout(cluster, ns, "no-account");
      return found.length > 0 ? found : undefined;
    }, "the event");
    expect(message).toBe(
      'FailedCreate: Error creating: pods "no-account-" is forbidden: error looking up service account starts/missing: serviceaccount "missing" not found',
    );
  });
});

describe.concurrent("starts when what it lacks appears, at once and not at the next try", () => {
  test("a Secret volume", async () => {
    await createJob(cluster, ns, "late-secret", 'cat "$1"', {
      ...mounted("late"),
      container: { ...mounted("late").container, args: ["x", "/in/key"] },
    });
    const message = 'FailedMount: MountVolume.SetUp failed for volume "s" : secret "late" not found';
    await until(
      () => podOf(cluster, ns, "late-secret") && messagesAbout(cluster, ns, podName("late-secret")).includes(message),
      "FailedMount",
    );
    expect(waiting("late-secret")).toEqual({ reason: "ContainerCreating" });
    await createSecret("late", { key: "here" });
    await endedJob(cluster, ns, "late-secret");
    expect(logOf("late-secret")).toBe("here");
  });

  test("a Secret in the environment", async () => {
    const env = [{ name: "KEY", valueFrom: { secretKeyRef: { name: "late-env", key: "key" } } }];
    await createJob(cluster, ns, "late-env", "echo $KEY", { container: { env } });
    expect((await waits("late-env", "CreateContainerConfigError")).message).toBe('secret "late-env" not found');
    expect(messagesAbout(cluster, ns, podName("late-env"))).toContain('Failed: Error: secret "late-env" not found');
    await createSecret("late-env", { key: "here" });
    await endedJob(cluster, ns, "late-env");
    expect(logOf("late-env")).toBe("here\n");
  });

  test("a claim, also one that is made by the API with the pocket class", async () => {
    const use = (claimName: string) => ({
      pod: { volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] },
      container: { volumeMounts: [{ name: "v", mountPath: "/data" }], args: ["x", "/data/out"] },
    });
    await createJob(cluster, ns, "late-claim", 'echo kept > "$1"', use("late"));
    await until(() => podOf(cluster, ns, "late-claim")?.status.conditions?.[0]?.status === "False", "unschedulable");
    const dir = join(cluster.dir, "volume");
    cluster.createClaim(ns, "late", dir);
    await endedJob(cluster, ns, "late-claim");
    expect(readFileSync(join(dir, "out"), "utf8")).toBe("kept\n");
    const claim = { metadata: { name: "dynamic" }, spec: { storageClassName: "pocket", accessModes: ["ReadWriteOnce"] } };
    await call(cluster, "POST", `/api/v1/namespaces/${ns}/persistentvolumeclaims`, claim);
    await createJob(cluster, ns, "dynamic", 'echo kept > "$1"', use("dynamic"));
    expect((await endedJob(cluster, ns, "dynamic")).status.succeeded).toBe(1);
  });
});
