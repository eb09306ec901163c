import { contextNamespace } from "../credentials.ts";

export interface OwnPodIdentity {
  readonly namespace: string;
  readonly podName: string;
}

/** Which pod this process runs in; null = none. Without the downward API the name is the host's, which pods have unless they say otherwise. */
export async function ownPodIdentity(env: NodeJS.ProcessEnv, mountedNamespace = accountNamespace): Promise<OwnPodIdentity | null> {
  const isNamed = env.POD_NAME !== undefined && env.POD_NAMESPACE !== undefined;
  // A host name alone proves nothing: every machine has one.
  if (!isNamed && !env.KUBERNETES_SERVICE_HOST) return null;
  const podName = given(env.POD_NAME) ?? given(env.HOSTNAME);
  if (podName === null) return null;
  const namespace = given(env.POD_NAMESPACE) ?? given(await mountedNamespace());
  return namespace === null ? null : { namespace, podName };
}

const given = (value: string | null | undefined): string | null => value?.trim() || null;

/** Of the pod's service account, as it is mounted. */
const accountNamespace = (): Promise<string | null> => contextNamespace({ kubeconfig: null }).catch(() => null);
