import { homedir } from "node:os";
import { join } from "node:path";

/** Where one cluster lives. Two run side by side when folder and subnet differ. */
export interface Settings {
  /** Everything of the running cluster; gone after `down`. */
  readonly dir: string;
  /** What is worth keeping between clusters: the binary, unpacked packages, images. */
  readonly cache: string;
  /** First three numbers of the pod network. */
  readonly subnet: string;
  /** The link on this machine that leads to the pod network. */
  readonly link: string;
  /** The node: gateway of the pods, and where the API server listens. */
  readonly nodeAddress: string;
  /** This machine as pods see it. */
  readonly hostAddress: string;
  readonly nodeName: string;
}

export const API_PORT = 6443;
/** Only routed inside the node's own network namespace. */
export const SERVICE_RANGE = "10.96.0.0/16";
export const SERVICE_ADDRESS = "10.96.0.1";

export function settingsFrom(env: NodeJS.ProcessEnv): Settings {
  const dir = env.KUBE_DIR ?? "/var/tmp/paperclip-kube";
  const subnet = env.KUBE_SUBNET ?? "10.213.77";
  // Inside the node these folders are its own, and a unix socket's path ends at 108 characters.
  if (!/^\/[\w./-]{2,70}$/.test(dir) || /^\/(run|var\/run|var\/lib|var\/log|proc|sys|dev)(\/|$)/.test(dir)) {
    throw new Error(`KUBE_DIR=${dir}: an absolute path of at most 70 plain characters, outside /run, /var/lib, /var/log, is needed`);
  }
  if (!/^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(subnet)) throw new Error(`KUBE_SUBNET=${subnet}: three numbers are needed, such as 10.213.77`);
  return {
    dir: dir.replace(/\/+$/, ""),
    cache: env.KUBE_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "paperclip-k8s", "kube"),
    subnet,
    link: `k-${subnet.replaceAll(".", "-")}`,
    nodeAddress: `${subnet}.1`,
    hostAddress: `${subnet}.2`,
    nodeName: env.KUBE_NODE ?? "node1",
  };
}
