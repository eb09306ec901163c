import { join } from "node:path";
import { API_PORT, SERVICE_RANGE, type Settings } from "./settings.ts";

export type ProgramName =
  | "etcd"
  | "containerd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kube-proxy"
  | "kubelet";

/** A program by its whole command line; the first word is a path inside the cluster's folder and so tells whose process it is. */
export type CommandLine = readonly [string, ...string[]];

/** How long a silent node is trusted. Short for tests, but a loaded machine must not lose its node by accident. */
const GRACE_SECONDS = 16;
const TOLERATION_SECONDS = 5;

export function commandLines(settings: Settings): Readonly<Record<ProgramName, CommandLine>> {
  const at = (path: string) => join(settings.dir, path);
  return {
    etcd: [at("bin/etcd"), "--data-dir", at("etcd"), "--unsafe-no-fsync"],
    containerd: [at("bin/containerd"), "-c", at("containerd.toml")],
    "kube-apiserver": apiServer(settings, at),
    "kube-controller-manager": [
      at("bin/kube-controller-manager"),
      `--kubeconfig=${at("pki/kube-controller-manager.kubeconfig")}`,
      `--service-account-private-key-file=${at("pki/sa.key")}`,
      `--root-ca-file=${at("pki/ca.crt")}`,
      `--flex-volume-plugin-dir=${at("volume-plugins")}`,
      "--use-service-account-credentials=true",
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--node-monitor-grace-period=${GRACE_SECONDS}s`,
      "--node-monitor-period=2s",
    ],
    "kube-scheduler": [
      at("bin/kube-scheduler"),
      `--kubeconfig=${at("pki/kube-scheduler.kubeconfig")}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
    ],
    "kube-proxy": [at("bin/kube-proxy"), `--config=${at("kube-proxy.json")}`, `--hostname-override=${settings.nodeName}`],
    kubelet: [
      at("bin/kubelet"),
      `--config=${at("kubelet.json")}`,
      `--kubeconfig=${at("pki/kubelet.kubeconfig")}`,
      `--hostname-override=${settings.nodeName}`,
      `--node-ip=${settings.nodeAddress}`,
      `--root-dir=${at("kubelet")}`,
      `--cert-dir=${at("kubelet/pki")}`,
    ],
  };
}

function apiServer(settings: Settings, at: (path: string) => string): CommandLine {
  return [
    at("bin/kube-apiserver"),
    "--etcd-servers=http://127.0.0.1:2379",
    `--bind-address=${settings.nodeAddress}`,
    `--advertise-address=${settings.nodeAddress}`,
    `--secure-port=${API_PORT}`,
    `--client-ca-file=${at("pki/ca.crt")}`,
    `--tls-cert-file=${at("pki/server.crt")}`,
    `--tls-private-key-file=${at("pki/server.key")}`,
    `--service-account-key-file=${at("pki/sa.pub")}`,
    `--service-account-signing-key-file=${at("pki/sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    "--authorization-mode=Node,RBAC",
    "--feature-gates=ImageVolume=true", // on by default from Kubernetes 1.35
    "--enable-admission-plugins=PodNodeSelector", // one namespace's pods can be kept from the node
    `--kubelet-client-certificate=${at("pki/admin.crt")}`,
    `--kubelet-client-key=${at("pki/admin.key")}`,
    "--kubelet-preferred-address-types=InternalIP", // a host name would need DNS
    `--default-not-ready-toleration-seconds=${TOLERATION_SECONDS}`,
    `--default-unreachable-toleration-seconds=${TOLERATION_SECONDS}`,
    `--audit-policy-file=${at("audit-policy.json")}`,
    `--audit-log-path=${at("audit.log")}`,
  ];
}
