export interface OwnPodIdentity {
  readonly namespace: string;
  readonly podName: string;
}

export type ReadText = (path: string) => string | Promise<string>;

const NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** Which pod this process runs in; null = none. Without the downward API the name is the host's, which pods have unless they say otherwise. */
export async function ownPodIdentity(env: NodeJS.ProcessEnv, readText: ReadText = fromDisk): Promise<OwnPodIdentity | null> {
  const told = env.POD_NAME !== undefined && env.POD_NAMESPACE !== undefined;
  // A host name alone proves nothing: every machine has one.
  if (!told && !env.KUBERNETES_SERVICE_HOST) return null;
  const podName = given(env.POD_NAME) ?? given(env.HOSTNAME);
  if (podName === null) return null;
  const namespace = given(env.POD_NAMESPACE) ?? (await mountedNamespace(readText));
  return namespace === null ? null : { namespace, podName };
}

const given = (value: string | undefined): string | null => value?.trim() || null;

async function mountedNamespace(readText: ReadText): Promise<string | null> {
  try {
    return given(await readText(NAMESPACE_FILE));
  } catch {
    return null;
  }
}

async function fromDisk(path: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return readFile(path, "utf8");
}
