import type { Job } from "./job.ts";
import type { Claim, KubeObject, Namespace, Secret } from "./object.ts";
import { type Container, type Pod, type PodSpec, qosClass } from "./pod.ts";
import type { ResourceName } from "./resources.ts";

// What the real server fills in before it stores an object; `uid` is the one the object will have.
export function withDefaults(resource: ResourceName, object: KubeObject, uid: string): KubeObject {
  switch (resource) {
    case "jobs":
      return jobDefaults(object as Job, uid);
    case "pods":
      return podDefaults(object as Pod);
    case "secrets":
      return secretDefaults(object as Secret);
    case "namespaces":
      return { ...object, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } } as Namespace;
    case "persistentvolumeclaims":
      return { ...object, status: { phase: "Pending" } } as Claim;
    default:
      return object;
  }
}

export function secretDefaults(secret: Secret): Secret {
  const { stringData, ...rest } = secret;
  const encoded = Object.entries(stringData ?? {}).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  const data = { ...rest.data, ...Object.fromEntries(encoded) };
  return { ...rest, type: rest.type ?? "Opaque", ...(Object.keys(data).length > 0 ? { data } : {}) } as Secret;
}

function jobDefaults(job: Job, uid: string): Job {
  const { name } = job.metadata;
  const own = { "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name, "controller-uid": uid, "job-name": name };
  const template = job.spec.template;
  const labels = job.metadata.labels ?? template.metadata?.labels;
  return {
    ...job,
    metadata: { ...job.metadata, ...(labels ? { labels } : {}) },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: "NonIndexed",
      suspend: false,
      podReplacementPolicy: "TerminatingOrFailed",
      ...job.spec,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": uid } },
      template: {
        ...template,
        metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...own } },
        spec: podSpecDefaults(template.spec),
      },
    },
    status: {},
  };
}

export function podDefaults(pod: Pod): Pod {
  const spec = podSpecDefaults(pod.spec);
  const evictions = ["not-ready", "unreachable"].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  }));
  return {
    ...pod,
    spec: { serviceAccountName: "default", tolerations: evictions, priority: 0, enableServiceLinks: true, ...spec },
    status: { phase: "Pending", qosClass: qosClass(spec) },
  };
}

function podSpecDefaults(spec: PodSpec): PodSpec {
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    securityContext: {},
    ...spec,
    containers: spec.containers.map(containerDefaults),
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(containerDefaults) } : {}),
  };
}

function containerDefaults(container: Container): Container {
  const tag = /:([\w][\w.-]*)$/.exec(container.image)?.[1];
  return {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: tag === undefined || tag === "latest" ? "Always" : "IfNotPresent",
    ...container,
  };
}
