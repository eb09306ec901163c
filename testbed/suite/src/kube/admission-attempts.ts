import type { KubeObject } from "@paperclip-k8s/pocket";
import type { Attempt } from "./guarded-account.ts";

/** A request of the server's account; what the refusal must say, or null where the policies let it through. */
export interface NamedAttempt extends Attempt {
  readonly name: string;
  readonly says: string | null;
}

interface Live {
  readonly job: KubeObject;
  readonly pod: KubeObject;
  readonly secret: KubeObject;
  readonly storageClass: string;
  /** How the names of Jobs and of agents' own claims begin. */
  readonly prefixes: { readonly job: string; readonly claim: string };
}

type Json = Record<string, unknown>;
interface JobBody {
  metadata: { name: string; labels: Json; annotations: Json };
  spec: { template: { metadata: { labels: Json }; spec: PodSpec } };
}
interface PodSpec extends Json {
  volumes: Json[];
  containers: [Json & { securityContext: Json; env: Json[] }];
}

/** Creates and changes on the ground of one live run: each differs from what the server does in one point. */
export function attempts(live: Live): readonly NamedAttempt[] {
  return [...jobCreates(live), ...jobChanges(live), ...podChanges(live), ...secretAttempts(live), ...claimAttempts(live), ...others(live)];
}

const spaceOf = ({ metadata }: KubeObject): string => `/api/v1/namespaces/${metadata.namespace}`;
const jobsOf = ({ metadata }: KubeObject): string => `/apis/batch/v1/namespaces/${metadata.namespace}/jobs`;

/** The run's Job again, under another name, as it was sent. */
function copyOf({ metadata, spec }: KubeObject): JobBody {
  const name = `${metadata.name}-copy`;
  const { selector: _, template, ...rest } = structuredClone(spec) as Json & { template: JobBody["spec"]["template"] };
  template.metadata.labels = { ...metadata.labels };
  template.spec.volumes = template.spec.volumes.map((volume) =>
    "secret" in volume ? { ...volume, secret: { secretName: `${name}-12345678` } } : volume,
  );
  const body = {
    metadata: { name, labels: { ...metadata.labels }, annotations: { ...metadata.annotations } },
    spec: { ...rest, template },
  };
  return { apiVersion: "batch/v1", kind: "Job", ...body } as JobBody;
}

function jobCreates({ job, prefixes }: Live): NamedAttempt[] {
  const path = jobsOf(job);
  const otherRun = `${prefixes.job}other-12345678`;
  const create = (name: string, says: string | null, change: (pod: PodSpec, job: JobBody) => void): NamedAttempt => {
    const body = copyOf(job);
    change(body.spec.template.spec, body);
    return { name: `Job: ${name}`, says, method: "POST", path, body };
  };
  const [ours, notOurs] = ["app.kubernetes.io/component", "is neither Secret, ConfigMap, claim, image nor emptyDir"];
  const volume = (source: Json) => (pod: PodSpec) => void pod.volumes.push({ name: "more", ...source });
  const init = (change: Json) => (pod: PodSpec) =>
    void Object.assign(pod, { initContainers: [{ ...pod.containers[0], name: "first", ...change }] });
  const security = (change: Json) => (pod: PodSpec) => void Object.assign(pod.containers[0].securityContext, change);
  return [
    create("another service account", "service account paperclip is not for agents", (pod) => {
      pod.serviceAccountName = "paperclip";
      pod.serviceAccount = "paperclip";
    }),
    create("as a run makes it", null, () => {}),
    create("a name of no run", "the Job's name does not begin", (pod, { metadata }) => {
      metadata.name = "postgres-backup";
      for (const volume of pod.volumes) if ("secret" in volume) volume.secret = { secretName: "postgres-backup-12345678" };
    }),
    create("no labels", "the Job or its pod lacks the labels", (_, { metadata }) => {
      // With none at all the Job gets those of its pod.
      metadata.labels = { app: "postgres" };
    }),
    create("no labels of the pod", "the Job or its pod lacks the labels", (_, { spec }) => {
      delete spec.template.metadata.labels[ours];
    }),
    create("the default account's token", "the pod would get a service account's token", (pod) => {
      pod.automountServiceAccountToken = true;
    }),
    create("hostNetwork", "the pod would share network", (pod) => {
      pod.hostNetwork = true;
    }),
    create("hostPID", "the pod would share network", (pod) => {
      pod.hostPID = true;
      delete pod.shareProcessNamespace;
    }),
    create("hostIPC", "the pod would share network", (pod) => {
      pod.hostIPC = true;
    }),
    create("a node by name", "nodeName, resourceClaims", (pod) => {
      pod.nodeName = "control-plane";
    }),
    create("the cluster's own priority", "nodeName, resourceClaims", (pod) => {
      pod.priorityClassName = "system-node-critical";
    }),
    create("an init container and a sidecar", null, (pod) => {
      pod.initContainers = [
        { ...pod.containers[0], name: "first" },
        { ...pod.containers[0], name: "beside", restartPolicy: "Always" },
      ];
    }),
    create("a second container", "a run's Job has one container", (pod) => {
      pod.containers = [...pod.containers, { ...pod.containers[0], name: "second" }] as unknown as PodSpec["containers"];
    }),
    create("privilege escalation of an init container", "a container is privileged", init({ securityContext: { runAsNonRoot: true } })),
    create("root in a sidecar", "a container may run as root", (pod) => {
      const { securityContext } = pod.containers[0];
      init({ securityContext: { ...securityContext, runAsNonRoot: false, runAsUser: 0 }, restartPolicy: "Always" })(pod);
    }),
    create(
      "a port of the node in a sidecar",
      "a container opens a port of its node",
      init({ ports: [{ containerPort: 80, hostPort: 80 }] }),
    ),
    create(
      "a Secret as variables of an init container",
      "a variable comes from a Secret",
      init({ envFrom: [{ secretRef: { name: "bystander" } }] }),
    ),
    create("an image as a volume", null, volume({ image: { reference: "localhost/agent:1" } })),
    // A privileged container cannot be without it, and this cluster's API server takes none at all.
    create("privilege escalation", "a container is privileged", security({ allowPrivilegeEscalation: true })),
    create("a capability", "a container is privileged", security({ capabilities: { add: ["SYS_PTRACE"] } })),
    create("root", "a container may run as root", security({ runAsNonRoot: false, runAsUser: 0 })),
    create("a port of the node", "a container opens a port of its node", (pod) => {
      pod.containers[0].ports = [{ containerPort: 80, hostPort: 80 }];
    }),
    create("hostPath", `volume more ${notOurs}`, volume({ hostPath: { path: "/etc" } })),
    create("a projected token", `volume more ${notOurs}`, volume({ projected: { sources: [{ serviceAccountToken: { path: "token" } }] } })),
    create("NFS", `volume more ${notOurs}`, volume({ nfs: { server: "10.0.0.1", path: "/" } })),
    create("a Secret of others", "the Job mounts Secret bystander", volume({ secret: { secretName: "bystander" } })),
    create("the Secret of another run", `the Job mounts Secret ${otherRun}`, volume({ secret: { secretName: otherRun } })),
    create("a Secret as variables", "a variable comes from a Secret", (pod) => {
      pod.containers[0].envFrom = [{ secretRef: { name: "bystander" } }];
    }),
    create("a Secret as one variable", "a variable comes from a Secret", (pod) => {
      pod.containers[0].env.push({ name: "X", valueFrom: { secretKeyRef: { name: "bystander", key: "key" } } });
    }),
    create("a ConfigMap of others", "the Job uses a ConfigMap", volume({ configMap: { name: "kube-root-ca.crt" } })),
    create("a pull secret", "the Job uses a pull secret", (pod) => {
      pod.imagePullSecrets = [{ name: "bystander" }];
    }),
    create("a claim of others", "claim postgres-data is not for agents", volume({ persistentVolumeClaim: { claimName: "postgres-data" } })),
  ];
}

function jobChanges({ job }: Live): NamedAttempt[] {
  const change = (name: string, says: string | null, body: unknown, of = job.metadata.name): NamedAttempt => ({
    ...{ name: `Job change: ${name}`, says, method: "PATCH", path: `${jobsOf(job)}/${of}`, body },
  });
  const run = { "paperclip.io/run-id": "other" };
  return [
    change("another owner", null, { metadata: { labels: run, annotations: { ...run, "paperclip.io/adopted-from": "first" } } }),
    change("its deadline", "of a Job only the run", { spec: { activeDeadlineSeconds: 999_999 } }),
    change("its owner reference", "of a Job only the run", {
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "00000000-0000-0000-0000-000000000000" }] },
    }),
    change("another label", "of a Job's labels and annotations", { metadata: { labels: { app: "postgres" } } }),
    change("a label taken away", "of a Job's labels and annotations", { metadata: { labels: { "app.kubernetes.io/component": null } } }),
    change("where its output is", "of a Job's labels and annotations", { metadata: { annotations: { "paperclip.io/output": "/etc" } } }),
    change("a Job of others", "this Job is not one of a run", { metadata: { labels: run } }, "bystander"),
    { name: "Job delete: of others", says: "this Job is not one of a run", method: "DELETE", path: `${jobsOf(job)}/bystander` },
    { name: "Job delete: of a run", says: null, method: "DELETE", path: `${jobsOf(job)}/${job.metadata.name}` },
  ];
}

function podChanges({ pod }: Live): NamedAttempt[] {
  const { containers } = pod.spec as { containers: { name: string }[] };
  const change = (name: string, says: string | null, body: unknown, of = pod.metadata.name): NamedAttempt => ({
    ...{ name: `pod change: ${name}`, says, method: "PATCH", path: `${spaceOf(pod)}/pods/${of}`, body },
  });
  const only = "of a pod only the label paperclip.io/run-id";
  const image = [{ op: "replace", path: "/spec/containers/0/image", value: "localhost/evil:1" }];
  return [
    change("the run's label", null, { metadata: { labels: { "paperclip.io/run-id": "other" } } }),
    { ...change(`the image of ${containers[0]?.name}`, only, image), patch: "json" },
    change("another label", only, { metadata: { labels: { app: "postgres" } } }),
    change("a label taken away", only, { metadata: { labels: { "app.kubernetes.io/managed-by": null } } }),
    change("an annotation", only, { metadata: { annotations: { "example.com/inject": "yes" } } }),
    change("its finalizers", only, { metadata: { finalizers: ["example.com/hold"] } }),
    change("a pod of others", "this pod is not one of a run", { metadata: { labels: { "paperclip.io/run-id": "x" } } }, "bystander"),
  ];
}

function secretAttempts({ secret, job }: Live): NamedAttempt[] {
  const path = `${spaceOf(secret)}/secrets`;
  const change = (name: string, says: string | null, body: unknown, of = secret.metadata.name): NamedAttempt => ({
    ...{ name: `Secret change: ${name}`, says, method: "PATCH", path: `${path}/${of}`, body },
  });
  const create = (name: string, says: string | null, changes: Json, type = "Opaque"): NamedAttempt => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: job.metadata.name, uid: job.metadata.uid };
    const metadata = { name: `${job.metadata.name}-abcdefgh`, labels: { ...job.metadata.labels }, ownerReferences: [owner], ...changes };
    return { name: `Secret: ${name}`, says, method: "POST", path, body: { apiVersion: "v1", kind: "Secret", metadata, type, data: {} } };
  };
  return [
    create("as a run makes it", null, {}),
    create("a name of others", "the Secret is not that of a run", { name: "postgres-password" }),
    create("no Job", "the Secret is not that of a run", { ownerReferences: [] }),
    create("no labels", "the Secret lacks the labels", { labels: {} }),
    create("another type", "a run's Secret has the type Opaque", {}, "example.com/other"),
    change("the token", null, { metadata: { labels: { "paperclip.io/run-id": "other" } }, data: { "credentials.json": "e30=" } }),
    change("where wake-ups are sent", null, { data: { "wake-up.json": "e30=" } }),
    change("the runner", "of a run's Secret only credentials.json", { data: { "runner.cjs": "e30=" } }),
    change("another key", "of a run's Secret only credentials.json", { data: { "more.json": "e30=" } }),
    change("a key taken away", "of a run's Secret only credentials.json", { data: { "spec.json": null } }),
    change("another label", "besides credentials.json and wake-up.json only the label", { metadata: { labels: { app: "x" } } }),
    change("immutable", "besides credentials.json and wake-up.json only the label", { immutable: true }),
    change("a Secret of others", "this Secret is not one of a run", { metadata: { labels: { "paperclip.io/run-id": "x" } } }, "bystander"),
    { name: "Secret delete: of others", says: "this Secret is not one of a run", method: "DELETE", path: `${path}/bystander` },
  ];
}

function claimAttempts({ job, storageClass, prefixes }: Live): NamedAttempt[] {
  const own = `${prefixes.claim}agent-2`;
  const create = (name: string, says: string | null, claim: string, changes: Json): NamedAttempt => {
    const common = { accessModes: ["ReadWriteOnce"], storageClassName: storageClass, resources: { requests: { storage: "1Gi" } } };
    const body = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: claim }, spec: { ...common, ...changes } };
    return { name: `claim: ${name}`, says, method: "POST", path: `${spaceOf(job)}/persistentvolumeclaims`, body };
  };
  const empty = "an agent's own claim is new and empty";
  return [
    create("an agent's own", null, own, {}),
    create("a name of others", "the claim's name does not begin", "postgres-data", {}),
    create("a volume by name", empty, own, { volumeName: "postgres" }),
    create("a copy of another claim", empty, own, { dataSource: { kind: "PersistentVolumeClaim", name: "data" } }),
    create("a volume by label", empty, own, { selector: { matchLabels: { app: "postgres" } } }),
  ];
}

/** RBAC grants these here by mistake. */
function others({ job, pod }: Live): NamedAttempt[] {
  const says = "the server changes nothing but Jobs";
  const { nodeName: _, ...spec } = pod.spec as Json;
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "extra", labels: pod.metadata.labels }, spec };
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "extra" }, data: {} };
  return [
    { name: "a pod without a Job", says, method: "POST", path: `${spaceOf(pod)}/pods`, body },
    { name: "a pod's end", says, method: "DELETE", path: `${spaceOf(pod)}/pods/${pod.metadata.name}` },
    { name: "a ConfigMap", says, method: "POST", path: `${spaceOf(job)}/configmaps`, body: map },
    { name: "a claim's end", says, method: "DELETE", path: `${spaceOf(job)}/persistentvolumeclaims/data` },
  ];
}
