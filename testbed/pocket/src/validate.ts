import { isDeepStrictEqual } from "node:util";
import type { Job } from "./job.ts";
import type { KubeObject, Secret } from "./object.ts";
import type { Pod } from "./pod.ts";
import type { ResourceName } from "./resources.ts";
import { type Cause, invalid } from "./status.ts";
import { checkAnnotations, checkLabels, checkName, invalidValue, required } from "./validate-meta.ts";
import { checkPodSpec, checkUniqueNames } from "./validate-pod.ts";

export const secretLimit = 1024 * 1024;

// What the real server refuses with 422, for the fields a run uses.
export function validate(resource: ResourceName, object: KubeObject): void {
  const { metadata } = object;
  const causes = [
    ...checkName(metadata.name, resource === "namespaces" ? 63 : 253),
    ...checkLabels(metadata.labels, "metadata.labels"),
    ...checkAnnotations(metadata.annotations),
    ...(metadata.ownerReferences ?? []).flatMap(({ uid }, i) =>
      uid ? [] : [required(`metadata.ownerReferences[${i}].uid`, "uid must not be empty")],
    ),
    ...checkBody(resource, object),
  ];
  if (causes.length > 0) throw invalid(resource, metadata.name ?? "", causes);
}

function checkBody(resource: ResourceName, object: KubeObject): Cause[] {
  if (resource === "secrets") return checkSecret(object as Secret);
  if (resource === "jobs") return checkJob(object as Job);
  if (resource === "pods") return checkPodSpec((object as Pod).spec, "spec");
  return [];
}

function checkSecret(secret: Secret): Cause[] {
  const entries = Object.entries(secret.data ?? {});
  const causes = entries.flatMap(([key]) =>
    /^[-._a-zA-Z0-9]{1,253}$/.test(key)
      ? []
      : [invalidValue(`data[${key}]`, key, "a valid config key must consist of alphanumeric characters, '-', '_' or '.'")],
  );
  const size = entries.reduce((sum, [, value]) => sum + Buffer.byteLength(value, "base64"), 0);
  if (size > secretLimit)
    causes.push({ reason: "FieldValueTooLong", message: `Too long: may not be more than ${secretLimit} bytes`, field: "data" });
  return causes;
}

function checkJob(job: Job): Cause[] {
  const field = "spec.template.spec";
  const spec = job.spec?.template?.spec;
  const causes = checkPodSpec(spec, field);
  if (causes.length === 0) causes.push(...checkUniqueNames(spec!, field));
  causes.push(...checkLabels(job.spec?.template?.metadata?.labels, "spec.template.labels"));
  const policy = spec?.restartPolicy;
  if (policy === undefined || policy === "Always") {
    causes.push({
      reason: "FieldValueNotSupported",
      message: 'Unsupported value: "Always": supported values: "OnFailure", "Never"',
      field: `${field}.restartPolicy`,
    });
  } else if (policy !== "Never" && policy !== "OnFailure") {
    causes.push(required(`${field}.restartPolicy`, 'valid values: "OnFailure", "Never"'));
  }
  for (const name of ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"] as const) {
    const value = job.spec?.[name];
    if (value !== undefined && value < 0) causes.push(invalidValue(`spec.${name}`, value, "must be greater than or equal to 0"));
  }
  // Its pods carry the name as a label.
  if (job.metadata.name?.length > 63) causes.push(invalidValue("metadata.name", job.metadata.name, "must be no more than 63 characters"));
  return causes;
}

export function validateUpdate(resource: ResourceName, next: KubeObject, previous: KubeObject): void {
  validate(resource, next);
  const causes: Cause[] = [];
  const { name } = previous.metadata;
  if (resource === "jobs") {
    for (const field of ["template", "selector", "completions", "completionMode"] as const) {
      const value = (next as Job).spec[field];
      // A suspended Job that never started may get other scheduling fields; pocket keeps the template fixed even then.
      if (!isDeepStrictEqual(value, (previous as Job).spec[field])) causes.push(invalidValue(`spec.${field}`, value, "field is immutable"));
    }
  }
  if (resource === "pods" && !isDeepStrictEqual(mutablePart(next as Pod), mutablePart(previous as Pod))) {
    causes.push({
      reason: "FieldValueForbidden",
      message:
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
      field: "spec",
    });
  }
  if (resource === "secrets" && (previous as Secret).immutable && !isDeepStrictEqual(next.data, previous.data)) {
    causes.push({ reason: "FieldValueForbidden", message: "Forbidden: field is immutable when `immutable` is set", field: "data" });
  }
  if (causes.length > 0) throw invalid(resource, name, causes);
}

function mutablePart(pod: Pod): unknown {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...rest } = pod.spec;
  const containers = rest.containers.map((container) => ({ ...container, image: "" }));
  return { ...rest, containers };
}
