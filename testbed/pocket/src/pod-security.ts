import type { Container, PodSpec, SecurityContext } from "./pod.ts";

const allowedVolumes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

// Containers of the pod that break a rule, as the real messages name them: `container "a"` or `containers "a", "b"`.
function offenders(spec: PodSpec, breaks: (context: SecurityContext | undefined) => boolean): string | undefined {
  const names = allContainers(spec)
    .filter((container) => breaks(container.securityContext))
    .map((container) => JSON.stringify(container.name));
  if (names.length === 0) return undefined;
  return names.length === 1 ? `container ${names[0]}` : `containers ${names.join(", ")}`;
}

const allContainers = (spec: PodSpec): Container[] => [...(spec.initContainers ?? []), ...spec.containers];

/** Why the "restricted" level refuses the pod; undefined when it does not. */
export function restrictedViolations(spec: PodSpec): string | undefined {
  const pod = spec.securityContext ?? {};
  const found: string[] = [];
  const host = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((key) => spec[key]);
  if (host.length > 0) found.push(`host namespaces (${host.map((key) => `${key}=true`).join(", ")})`);
  const privileged = offenders(spec, (c) => c?.privileged === true);
  if (privileged) found.push(`privileged (${privileged} must not set securityContext.privileged=true)`);
  const escalation = offenders(spec, (c) => c?.allowPrivilegeEscalation !== false);
  if (escalation) found.push(`allowPrivilegeEscalation != false (${escalation} must set securityContext.allowPrivilegeEscalation=false)`);
  const capabilities = offenders(spec, (c) => !c?.capabilities?.drop?.includes("ALL"));
  if (capabilities) found.push(`unrestricted capabilities (${capabilities} must set securityContext.capabilities.drop=["ALL"])`);
  for (const volume of spec.volumes ?? []) {
    const type = Object.keys(volume).find((key) => key !== "name" && !allowedVolumes.includes(key));
    if (type) found.push(`restricted volume types (volume "${volume.name}" uses restricted volume type "${type}")`);
  }
  const root = offenders(spec, (c) => (c?.runAsNonRoot ?? pod.runAsNonRoot) !== true);
  if (root) found.push(`runAsNonRoot != true (pod or ${root} must set securityContext.runAsNonRoot=true)`);
  if (pod.runAsUser === 0) found.push("runAsUser=0 (pod must not set runAsUser=0)");
  const seccomp = offenders(spec, (c) => !["RuntimeDefault", "Localhost"].includes((c?.seccompProfile ?? pod.seccompProfile)?.type ?? ""));
  if (seccomp)
    found.push(`seccompProfile (pod or ${seccomp} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`);
  return found.length > 0 ? found.join(", ") : undefined;
}

export const enforceLabel = "pod-security.kubernetes.io/enforce";
