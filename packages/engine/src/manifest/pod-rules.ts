import type { PodRules, RunRequest } from "../request.ts";

/** What a pod gets if the request says nothing else. */
const DEFAULT_RULES: PodRules = {
  runtimeClassName: null,
  hostUsers: null,
  priorityClassName: null,
  readOnlyRootFilesystem: true,
  annotations: {},
};

export const rulesOf = ({ pod }: RunRequest): PodRules => pod ?? DEFAULT_RULES;

/** What Pod Security "restricted" asks for, and a root filesystem that nobody writes to. */
export const containerSecurity = (request: RunRequest): Record<string, unknown> => ({
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
  ...(rulesOf(request).readOnlyRootFilesystem ? { readOnlyRootFilesystem: true } : {}),
});

/** The pod's user, and how far the pod is kept from its node and from other pods. Containers see no processes but their own. */
export function podSecurity(request: RunRequest): Record<string, unknown> & { readonly securityContext: Record<string, unknown> } {
  const { uid, gid } = request.user;
  const { runtimeClassName, hostUsers, priorityClassName } = rulesOf(request);
  return {
    ...(runtimeClassName === null ? {} : { runtimeClassName }),
    ...(hostUsers === null ? {} : { hostUsers }),
    ...(priorityClassName === null ? {} : { priorityClassName }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid,
      runAsGroup: gid,
      seccompProfile: { type: "RuntimeDefault" },
      // We set no fsGroup. Where the cluster adds one, as OpenShift does, the kubelet would else change every file of the shared volume at each start.
      fsGroupChangePolicy: "OnRootMismatch",
    },
  };
}
