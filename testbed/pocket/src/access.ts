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

/** A permission in one namespace, as a Role gives it; for what is in no namespace, as a ClusterRole does. */
export interface AccessRule {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

/** Who asks. `rules` null: everything is permitted; otherwise these, in one namespace, and nothing else. */
export interface Account {
  readonly user: string;
  readonly rules: { readonly namespace: string; readonly allowed: readonly AccessRule[] } | null;
}

interface Attributes {
  readonly verb?: string;
  readonly group?: string;
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

/** Do the account's own rules permit it? */
export function permits({ rules }: Account, asked: Attributes): boolean {
  if (rules === null) return true;
  const { namespace, subresource, resource, group, verb } = asked;
  const clusterWide = resource !== undefined && isResource(resource) && !resources[resource].namespaced;
  if (namespace !== (clusterWide ? undefined : rules.namespace) || (subresource ?? "") !== "") return false;
  return rules.allowed.some((rule) => rule.resource === resource && rule.verb === verb && (group === undefined || rule.group === group));
}

export function forbidden({ user }: Account, verb: Verb, target: Target): ApiError {
  const { group } = resources[target.resource];
  const full = target.subresource === undefined ? target.resource : `${target.resource}/${target.subresource}`;
  const scope = target.namespace === undefined ? "at the cluster scope" : `in the namespace "${target.namespace}"`;
  const subject = `${group === "" ? target.resource : `${target.resource}.${group}`}${target.name ? ` "${target.name}"` : ""}`;
  const message = `${subject} is forbidden: User "${user}" cannot ${verb} resource "${full}" in API group "${group}" ${scope}`;
  return new ApiError(403, "Forbidden", message, {
    ...(target.name ? { name: target.name } : {}),
    ...(group ? { group } : {}),
    kind: target.resource,
  });
}

/** Answers a SelfSubjectAccessReview. */
export function review(account: Account, denied: readonly DeniedAccess[], body: unknown): object {
  const spec = (body as { spec?: { resourceAttributes?: Attributes } })?.spec ?? {};
  const asked = spec.resourceAttributes ?? {};
  const known = asked.resource === undefined || asked.resource === "*" || isResource(asked.resource);
  // Without a group the core one is meant.
  const allowed = known && permits(account, { ...asked, group: asked.group ?? "" }) && !isDenied(denied, asked);
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: {},
    spec,
    status: allowed ? { allowed, reason: "RBAC: allowed by pocket" } : { allowed },
  };
}
