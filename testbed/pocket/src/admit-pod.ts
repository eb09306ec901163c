import type { PodSpec } from "./pod.ts";
import { enforceLabel, restrictedViolations } from "./pod-security.ts";
import type { World } from "./world.ts";

/** Why the pod may not be made, in the words of the real admission; undefined when it may. */
export function refusal(world: World, namespace: string, name: string, spec: PodSpec): string | undefined {
  const account = spec.serviceAccountName ?? "default";
  if (!world.store.get("serviceaccounts", namespace, account)) {
    return `pods "${name.replace(/[^-]+$/, "")}" is forbidden: error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  }
  if (world.state.podRefused) return `pods "${name}" is forbidden: ${world.state.podRefused(name, namespace)}`;
  const violations = podSecurity(world, namespace, spec);
  return violations && `pods "${name}" is forbidden: violates PodSecurity "restricted:latest": ${violations}`;
}

export function podSecurity(world: World, namespace: string, spec: PodSpec): string | undefined {
  const level = world.store.get("namespaces", undefined, namespace)?.metadata.labels?.[enforceLabel];
  return level === "restricted" ? restrictedViolations(spec) : undefined;
}
