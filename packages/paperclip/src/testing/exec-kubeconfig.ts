/** A kubeconfig whose user is a program: whoever connects with it runs the program. */
export function execKubeconfig(command: string, args: readonly string[]): string {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command, args, interactiveMode: "Never" };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "u", user: { exec } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}
