import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PAUSE_IMAGE } from "./images.ts";
import type { Settings } from "./settings.ts";

/** Every configuration file of the cluster by its name in the folder. JSON is YAML too. */
export function configs(settings: Settings): Readonly<Record<string, string>> {
  return {
    "containerd.toml": containerd(settings.dir, settings.dir),
    "cni/10-pods.conflist": JSON.stringify(podNetwork(settings)),
    "kubelet.json": JSON.stringify(kubelet(settings)),
    "kube-proxy.json": JSON.stringify(proxy(settings)),
    "audit-policy.json": JSON.stringify(AUDIT_POLICY),
    // A name server that refuses at once: there is no cluster DNS, and a lookup must not take its 10 s to fail.
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
  };
}

export async function writeConfigs(settings: Settings): Promise<void> {
  for (const [name, content] of Object.entries(configs(settings))) {
    const path = join(settings.dir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

/** `dir` holds socket, state and images; `cniDir` the pod network's description. */
export function containerd(dir: string, cniDir: string): string {
  return `version = 3
root = "${dir}/containerd/root"
state = "${dir}/containerd/state"
[grpc]
address = "${dir}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "${dir}/containerd/opt"
[plugins."io.containerd.nri.v1.nri"]
disable = true
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "${PAUSE_IMAGE}"
[plugins."io.containerd.cri.v1.runtime"]
# without CAP_SYS_RESOURCE an oom_score_adj below the parent's cannot be set
restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["/usr/lib/cni"]
conf_dir = "${cniDir}/cni"
`;
}

function podNetwork({ subnet, dir }: Settings) {
  const range = { subnet: `${subnet}.0/24`, gateway: `${subnet}.1`, rangeStart: `${subnet}.10`, rangeEnd: `${subnet}.254` };
  const ipam = { type: "host-local", dataDir: `${dir}/cni/leases`, ranges: [[range]], routes: [{ dst: "0.0.0.0/0" }] };
  return { cniVersion: "0.4.0", name: "pods", plugins: [{ type: "bridge", bridge: "pods", isGateway: true, ipMasq: false, ipam }] };
}

function kubelet({ dir, nodeAddress }: Settings) {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: nodeAddress,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: `${dir}/pki/ca.crt` } },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: `unix://${dir}/containerd.sock`,
    podLogsDir: `${dir}/pod-logs`,
    volumePluginDir: `${dir}/volume-plugins`, // the default is below /usr
    resolvConf: `${dir}/resolv.conf`,
    clusterDNS: ["127.0.0.1"],
    clusterDomain: "cluster.local",
    featureGates: { ImageVolume: true },
    cgroupDriver: "cgroupfs",
    cgroupsPerQOS: false, // leaves the machine's cgroup tree alone; limits of containers still apply
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    // Amounts, not shares: of a large disk 1% is gigabytes, and under pressure the kubelet would also delete the images, which cannot be pulled again.
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "100Mi", "imagefs.available": "100Mi" },
    imageGCHighThresholdPercent: 100, // imported images cannot be pulled again
    nodeLeaseDurationSeconds: 8, // renewed every quarter of it
    nodeStatusUpdateFrequency: "4s",
    maxPods: 200,
  };
}

function proxy({ dir, subnet }: Settings) {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig: `${dir}/pki/kube-proxy.kubeconfig` },
    clusterCIDR: `${subnet}.0/24`,
    // Two pods are neighbours on the bridge: without it the answer would bypass the translation of the service address.
    nftables: { masqueradeAll: true },
    healthzBindAddress: "127.0.0.1:10256",
    metricsBindAddress: "127.0.0.1:10249",
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" }, // not the machine's limits
  };
}

/** What users and tests ask for; the cluster's own programs are left out. */
const AUDIT_POLICY = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "None", userGroups: ["system:nodes", "system:serviceaccounts:kube-system"] },
    { level: "None", users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy"] },
    { level: "Metadata" },
  ],
};
