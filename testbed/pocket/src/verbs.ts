import { podSecurity } from "./admit-pod.ts";
import { checkPreconditions, type DeleteOptions, deleteObject } from "./delete.ts";
import { evictPod } from "./disrupt.ts";
import type { Job } from "./job.ts";
import { listObjects } from "./list.ts";
import type { KubeObject } from "./object.ts";
import type { Pod } from "./pod.ts";
import { readPodLog } from "./pod-log.ts";
import { resources } from "./resources.ts";
import type { Target, Verb } from "./route.ts";
import { selectorOf } from "./selectors.ts";
import { ApiError, deletedStatus, methodNotAllowed, noSuchPath } from "./status.ts";
import type { World } from "./world.ts";
import { createObject, existing, patchObject, replaceObject } from "./write.ts";

export interface Call {
  readonly verb: Verb;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: unknown;
}

export interface Answer {
  readonly status: number;
  readonly body: object | string;
  readonly warning?: string;
}

// Everything but watch: one call, one answer.
export function perform(world: World, call: Call): Answer {
  const { target, query } = call;
  if (target.subresource !== undefined) return performSubresource(world, call);
  const dryRun = isDryRun(call);
  switch (call.verb) {
    case "list":
      return { status: 200, body: listObjects(world.store, target, query) };
    case "get":
      return { status: 200, body: existing(world, target) };
    case "create": {
      if (target.name !== undefined || (resources[target.resource].namespaced && target.namespace === undefined)) throw methodNotAllowed();
      const made = createObject(world, target, call.body, dryRun);
      return { status: 201, body: made, ...jobWarning(world, target, made) };
    }
    case "update":
      return { status: 200, body: replaceObject(world, target, call.body, dryRun) };
    case "patch":
      return { status: 200, body: patchObject(world, target, call.body, call.contentType, dryRun) };
    case "delete":
      return remove(world, target, deleteOptions(call), dryRun);
    case "deletecollection":
      return removeAll(world, target, query, deleteOptions(call), dryRun);
    default:
      throw methodNotAllowed();
  }
}

function performSubresource(world: World, call: Call): Answer {
  const { target, verb } = call;
  if (target.subresource === "status" && resources[target.resource].hasStatus) {
    if (verb === "get") return { status: 200, body: existing(world, target) };
    if (verb === "patch") return { status: 200, body: patchObject(world, target, call.body, call.contentType, isDryRun(call)) };
    if (verb === "update") return { status: 200, body: replaceObject(world, target, call.body, isDryRun(call)) };
    throw methodNotAllowed();
  }
  if (target.resource === "pods" && target.subresource === "log" && verb === "get") {
    return { status: 200, body: readPodLog(world, existing(world, target) as Pod, call.query) };
  }
  if (target.resource === "pods" && target.subresource === "eviction" && verb === "create") {
    const options = (call.body as { deleteOptions?: DeleteOptions } | undefined)?.deleteOptions ?? {};
    const pod = existing(world, target) as Pod;
    checkPreconditions("pods", pod, options);
    if (!isDryRun(call)) evictPod(world, pod, options);
    return { status: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
  }
  throw noSuchPath();
}

const isDryRun = ({ query, body }: Call): boolean =>
  query.getAll("dryRun").includes("All") || ((body as DeleteOptions | undefined)?.dryRun?.includes("All") ?? false);

// Options stand in the body; the query is the older way and still works.
function deleteOptions({ query, body }: Call): DeleteOptions {
  const options = { ...((body as DeleteOptions | undefined) ?? {}) };
  const policy = query.get("propagationPolicy");
  const grace = query.get("gracePeriodSeconds");
  if (policy && !options.propagationPolicy) options.propagationPolicy = policy as "Background";
  if (grace !== null && options.gracePeriodSeconds === undefined) options.gracePeriodSeconds = Number(grace);
  if (options.propagationPolicy && !["Background", "Foreground", "Orphan"].includes(options.propagationPolicy)) {
    const message = `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "${options.propagationPolicy}": supported values: "Background", "Foreground", "Orphan"`;
    throw new ApiError(422, "Invalid", message, { group: "meta.k8s.io", kind: "DeleteOptions" });
  }
  return options;
}

const orphanWarning =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

function remove(world: World, target: Target, options: DeleteOptions, dryRun: boolean): Answer {
  const found = existing(world, target);
  checkPreconditions(target.resource, found, options);
  const warning = target.resource === "jobs" && !options.propagationPolicy ? { warning: orphanWarning } : {};
  if (dryRun) return { status: 200, body: deletedStatus(target.resource, found.metadata.name, found.metadata.uid), ...warning };
  const { object, gone } = deleteObject(world.store, target.resource, found, options);
  // A pod's delete answers with the pod, whether or not it is gone already.
  if (!gone || target.resource === "pods") return { status: 200, body: object, ...warning };
  return { status: 200, body: deletedStatus(target.resource, found.metadata.name, found.metadata.uid), ...warning };
}

function removeAll(world: World, target: Target, query: URLSearchParams, options: DeleteOptions, dryRun: boolean): Answer {
  const matches = selectorOf(query);
  const found = world.store.list(target.resource, target.namespace).filter(matches);
  if (!dryRun) for (const object of found) deleteObject(world.store, target.resource, object, options);
  const { kind, apiVersion } = resources[target.resource];
  return {
    status: 200,
    body: { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: String(world.store.version) }, items: found },
  };
}

// A Job whose pods the namespace will refuse, or that uses what is going away, is accepted all the same, with a warning.
function jobWarning(world: World, target: Target, made: KubeObject): { warning?: string } {
  if (target.resource !== "jobs") return {};
  const { spec } = (made as Job).spec.template;
  const violations = podSecurity(world, target.namespace!, spec);
  if (violations) return { warning: `would violate PodSecurity "restricted:latest": ${violations}` };
  const old = Object.keys(spec.nodeSelector ?? {}).find((key) => key === "beta.kubernetes.io/os" || key === "beta.kubernetes.io/arch");
  if (old === undefined) return {};
  const now = old.replace("beta.", "");
  return { warning: `spec.template.spec.nodeSelector[${old}]: deprecated since v1.14; use "${now}" instead` };
}
