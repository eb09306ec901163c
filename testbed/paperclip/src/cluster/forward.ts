import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeCluster } from "@paperclip-k8s/kube";

const PAUSE_MS = 500;

export interface Forward {
  stop(): Promise<void>;
}

/** `kubectl port-forward`, as an operator opens the server's pages; it knows only one pod, so it is started again after each. */
export async function forward(cluster: KubeCluster, namespace: string, port: number): Promise<Forward> {
  const args = ["--kubeconfig", cluster.kubeconfig, "-n", namespace, "port-forward", "service/paperclip", `${port}:3100`];
  const over = new AbortController();
  const first = open(cluster.kubectl, args, over.signal);
  await first.ready;
  const ended = (async () => {
    await first.ended;
    while (!over.signal.aborted) {
      await sleep(PAUSE_MS, undefined, { signal: over.signal }).catch(() => {});
      if (!over.signal.aborted) await open(cluster.kubectl, args, over.signal).ended;
    }
  })();
  return {
    stop: () => {
      over.abort();
      return ended;
    },
  };
}

interface Opened {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
}

function open(kubectl: string, args: readonly string[], over: AbortSignal): Opened {
  // It ends with us, however we end.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", kubectl, ...args], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const end = () => child.kill("SIGTERM");
  over.addEventListener("abort", end);
  let said = "";
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
  void ended.then(() => over.removeEventListener("abort", end));
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Forwarding from 127.0.0.1")) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void ended.then(() => reject(new Error(`kubectl port-forward ended: ${said}`)));
  });
  ready.catch(() => {}); // who waits for it hears of it
  return { ready, ended };
}
