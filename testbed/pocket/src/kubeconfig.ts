// The official client takes plain http only from a config that skips TLS verification.
export function kubeconfig(url: string, token: string, namespace: string): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "pocket", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "pocket", user: { token } }],
    contexts: [{ name: "pocket", context: { cluster: "pocket", user: "pocket", namespace } }],
    "current-context": "pocket",
  };
  return `${JSON.stringify(config, null, 2)}\n`; // JSON is YAML
}
