import { spawn } from "node:child_process";
import type { KubeCluster } from "@paperclip-k8s/kube";

export interface Forward {
  stop(): Promise<void>;
}

/** `kubectl port-forward`, as an operator opens the server's pages. */
export async function forward(cluster: KubeCluster, namespace: string, port: number): Promise<Forward> {
  const args = ["--kubeconfig", cluster.kubeconfig, "-n", namespace, "port-forward", "service/paperclip", `${port}:3100`];
  // It ends with us, however we end.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", cluster.kubectl, ...args], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Forwarding from 127.0.0.1")) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void ended.then(() => reject(new Error(`kubectl port-forward ended: ${said}`)));
  });
  return {
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
