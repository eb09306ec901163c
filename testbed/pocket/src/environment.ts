import { expand } from "./expand.ts";
import type { ConfigMap, Secret } from "./object.ts";
import type { Container, EnvVar, Pod } from "./pod.ts";
import type { Store } from "./store.ts";

/** The container cannot be configured: the text of CreateContainerConfigError. */
export class ConfigError extends Error {}

// The container's own variables, in the order the kubelet settles them: envFrom first, then env, each seeing those before it.
export function environment(store: Store, pod: Pod, container: Container): Map<string, string> {
  const values = new Map<string, string>();
  for (const from of container.envFrom ?? []) {
    const table = from.secretRef
      ? secretData(store, pod, from.secretRef.name, from.secretRef.optional)
      : configData(store, pod, from.configMapRef?.name ?? "", from.configMapRef?.optional);
    for (const [key, value] of Object.entries(table ?? {})) values.set(`${from.prefix ?? ""}${key}`, value);
  }
  for (const variable of container.env ?? []) {
    const value = settle(store, pod, variable, values);
    if (value !== undefined) values.set(variable.name, value);
  }
  return values;
}

function settle(store: Store, pod: Pod, { value, valueFrom }: EnvVar, values: ReadonlyMap<string, string>): string | undefined {
  if (!valueFrom) return expand(value ?? "", values);
  if (valueFrom.fieldRef) return fieldOf(pod, valueFrom.fieldRef.fieldPath);
  const { secretKeyRef, configMapKeyRef } = valueFrom;
  if (secretKeyRef) {
    const data = secretData(store, pod, secretKeyRef.name, secretKeyRef.optional);
    return pick(data, secretKeyRef, `couldn't find key ${secretKeyRef.key} in Secret ${pod.metadata.namespace}/${secretKeyRef.name}`);
  }
  if (configMapKeyRef) {
    const data = configData(store, pod, configMapKeyRef.name, configMapKeyRef.optional);
    return pick(
      data,
      configMapKeyRef,
      `couldn't find key ${configMapKeyRef.key} in ConfigMap ${pod.metadata.namespace}/${configMapKeyRef.name}`,
    );
  }
  return undefined;
}

function pick(data: Record<string, string> | undefined, ref: { key: string; optional?: boolean }, missing: string): string | undefined {
  const value = data?.[ref.key];
  if (value === undefined && !ref.optional) throw new ConfigError(missing);
  return value;
}

function secretData(store: Store, pod: Pod, name: string, optional = false): Record<string, string> | undefined {
  const secret: Secret | undefined = store.get("secrets", pod.metadata.namespace, name);
  if (!secret && !optional) throw new ConfigError(`secret "${name}" not found`);
  return (
    secret && Object.fromEntries(Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]))
  );
}

function configData(store: Store, pod: Pod, name: string, optional = false): Record<string, string> | undefined {
  const config: ConfigMap | undefined = store.get("configmaps", pod.metadata.namespace, name);
  if (!config && !optional) throw new ConfigError(`configmap "${name}" not found`);
  return config && { ...config.data };
}

function fieldOf(pod: Pod, path: string): string {
  const { name, namespace, uid, labels, annotations } = pod.metadata;
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed) return (keyed[1] === "labels" ? labels : annotations)?.[keyed[2]!] ?? "";
  const known: Record<string, string | undefined> = {
    "metadata.name": name,
    "metadata.namespace": namespace,
    "metadata.uid": uid,
    "spec.nodeName": pod.spec.nodeName,
    "spec.serviceAccountName": pod.spec.serviceAccountName,
    "status.podIP": "127.0.0.1",
    "status.hostIP": "127.0.0.1",
  };
  return known[path] ?? "";
}
