import { isResource, resources } from "./resources.ts";
import type { Target, Verb } from "./route.ts";
import { ApiError } from "./status.ts";

/** A permission the account lacks; what is left out matches all. */
export interface DeniedAccess {
  readonly verb?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
}

interface Attributes {
  readonly verb?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
}

export const isDenied = (denied: readonly DeniedAccess[], asked: Attributes): boolean =>
  denied.some(
    (rule) =>
      rule.resource === asked.resource &&
      (rule.subresource ?? "") === (asked.subresource ?? "") &&
      (rule.verb === undefined || rule.verb === "*" || rule.verb === asked.verb) &&
      (rule.namespace === undefined || rule.namespace === asked.namespace),
  );

export function forbidden(verb: Verb, target: Target): ApiError {
  const { group } = resources[target.resource];
  const full = target.subresource === undefined ? target.resource : `${target.resource}/${target.subresource}`;
  const scope = target.namespace === undefined ? "at the cluster scope" : `in the namespace "${target.namespace}"`;
  const subject = `${group === "" ? target.resource : `${target.resource}.${group}`}${target.name ? ` "${target.name}"` : ""}`;
  const message = `${subject} is forbidden: User "pocket" cannot ${verb} resource "${full}" in API group "${group}" ${scope}`;
  return new ApiError(403, "Forbidden", message, {
    ...(target.name ? { name: target.name } : {}),
    ...(group ? { group } : {}),
    kind: target.resource,
  });
}

/** Answers a SelfSubjectAccessReview. */
export function review(denied: readonly DeniedAccess[], body: unknown): object {
  const spec = (body as { spec?: { resourceAttributes?: Attributes } })?.spec ?? {};
  const asked = spec.resourceAttributes ?? {};
  const allowed = (asked.resource === undefined || asked.resource === "*" || isResource(asked.resource)) && !isDenied(denied, asked);
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: {},
    spec,
    status: allowed ? { allowed, reason: "RBAC: allowed by pocket" } : { allowed },
  };
}
