import { randomUUID } from "node:crypto";
import { refusal } from "./admit-pod.ts";
import { secretDefaults, withDefaults } from "./defaults.ts";
import { type KubeObject, randomSuffix, type Secret, timestamp } from "./object.ts";
import { jsonPatch, mergePatch } from "./patch.ts";
import type { Pod } from "./pod.ts";
import { resources } from "./resources.ts";
import type { Target } from "./route.ts";
import { ApiError, alreadyExists, badRequest, conflict, modified, notFound, unsupportedMediaType } from "./status.ts";
import { validate, validateUpdate } from "./validate.ts";
import type { World } from "./world.ts";

const isObject = (value: unknown): value is KubeObject => typeof value === "object" && value !== null && !Array.isArray(value);

// Creates are checked like in life: path and body must agree, the namespace must exist, the name must be free.
export function createObject(world: World, target: Target, body: unknown, dryRun: boolean): KubeObject {
  const { resource, namespace } = target;
  const object = readBody(target, body);
  if (namespace !== undefined) {
    const found = world.store.get("namespaces", undefined, namespace);
    if (!found) throw notFound("namespaces", namespace);
    if (found.metadata.deletionTimestamp) {
      const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
      throw new ApiError(403, "Forbidden", `${resource} "${object.metadata.name}" is forbidden: ${why}`, {
        name: object.metadata.name,
        kind: resource,
      });
    }
  }
  const { generateName } = object.metadata;
  const name = object.metadata.name ?? (generateName ? `${generateName}${randomSuffix()}` : undefined);
  const uid = randomUUID();
  const bare = { ...object, metadata: { ...clientMeta(object), name, ...(namespace === undefined ? {} : { namespace }) } } as KubeObject;
  const early = resource === "secrets" ? secretDefaults(bare as Secret) : bare;
  validate(resource, early);
  const full = withDefaults(resource, early, uid);
  if (world.store.get(resource, namespace, full.metadata.name)) throw alreadyExists(resource, full.metadata.name);
  if (resource === "pods") {
    const refused = refusal(world, namespace!, full.metadata.name, (full as Pod).spec);
    if (refused) throw new ApiError(403, "Forbidden", refused, { name: full.metadata.name, kind: "pods" });
  }
  const made = { ...full, metadata: { ...full.metadata, uid } };
  if (dryRun) return { ...made, metadata: { ...made.metadata, creationTimestamp: timestamp(), resourceVersion: "" } };
  return world.store.create(resource, made as never) as KubeObject;
}

// What a client may say about a new object; the rest is the server's.
function clientMeta({ metadata }: KubeObject): object {
  const { generateName, labels, annotations, ownerReferences, finalizers } = metadata;
  return Object.fromEntries(
    Object.entries({ generateName, labels, annotations, ownerReferences, finalizers }).filter(([, value]) => value !== undefined),
  );
}

function readBody(target: Target, body: unknown): KubeObject {
  if (!isObject(body)) throw badRequest("the object provided is unrecognized (must be of type object)");
  const { kind, apiVersion } = resources[target.resource];
  if ((body.kind ?? kind) !== kind || (body.apiVersion ?? apiVersion) !== apiVersion) {
    throw badRequest(
      `${body.kind} in version ${JSON.stringify(body.apiVersion)} cannot be handled as a ${kind}: no kind ${JSON.stringify(body.kind)} is registered for version ${JSON.stringify(body.apiVersion)}`,
    );
  }
  const metadata = (isObject(body.metadata) ? body.metadata : {}) as KubeObject["metadata"];
  if (metadata.namespace !== undefined && target.namespace !== undefined && metadata.namespace !== target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (target.name !== undefined && metadata.name !== undefined && metadata.name !== target.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`);
  }
  const { status: _status, ...rest } = body;
  return {
    ...(resources[target.resource].hasStatus && target.subresource === undefined ? rest : body),
    kind,
    apiVersion,
    metadata,
  } as KubeObject;
}

export function replaceObject(world: World, target: Target, body: unknown, dryRun: boolean): KubeObject {
  const current = existing(world, target);
  return save(world, target, current, readBody(target, body), dryRun);
}

export function patchObject(world: World, target: Target, body: unknown, contentType: string, dryRun: boolean): KubeObject {
  const current = existing(world, target);
  const type = contentType.split(";")[0]!.trim();
  if (type === "application/json-patch+json") return save(world, target, current, jsonPatch(current, body) as KubeObject, dryRun);
  if (type !== "application/merge-patch+json" && type !== "application/strategic-merge-patch+json") throw unsupportedMediaType();
  return save(world, target, current, mergePatch(current, body) as KubeObject, dryRun);
}

export function existing(world: World, target: Target): KubeObject {
  const found = world.store.get(target.resource, target.namespace, target.name!);
  if (!found) throw notFound(target.resource, target.name!);
  return found;
}

function save(world: World, target: Target, current: KubeObject, wanted: KubeObject, dryRun: boolean): KubeObject {
  const { uid, resourceVersion } = wanted.metadata ?? {};
  const { name } = current.metadata;
  if (uid !== undefined && uid !== current.metadata.uid) {
    throw conflict(target.resource, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`);
  }
  if (resourceVersion && resourceVersion !== current.metadata.resourceVersion) throw modified(target.resource, name);
  const next = nextObject(target, current, wanted);
  if (target.subresource === undefined) validateUpdate(target.resource, next, current);
  return dryRun ? next : (world.store.update(target.resource, next as never) as KubeObject);
}

// The status subresource changes the status alone, the object itself everything but the status and what the server owns.
function nextObject(target: Target, current: KubeObject, wanted: KubeObject): KubeObject {
  if (target.subresource === "status") return { ...current, status: wanted.status };
  const { labels, annotations, ownerReferences, finalizers } = wanted.metadata;
  const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, ...owned } = current.metadata;
  const mutable = Object.entries({ labels, annotations, ownerReferences, finalizers }).filter(([, value]) => value !== undefined);
  const next = { ...wanted, metadata: { ...owned, ...Object.fromEntries(mutable) } } as KubeObject;
  if (resources[target.resource].hasStatus) next.status = current.status;
  if (target.resource === "secrets") return secretDefaults(next as Secret);
  return next;
}
