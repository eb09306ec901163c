import { existsSync } from "node:fs";
import { keeper, runInNode } from "./node-namespaces.ts";
import { run } from "./run.ts";
import type { Settings } from "./settings.ts";

/** The pods' bridge inside the node, and one link that puts this machine on it. Both go with the node. */
export async function connect(settings: Settings): Promise<void> {
  const { dir, link, nodeAddress, hostAddress } = settings;
  const inside = (...command: string[]) => runInNode(dir, ...command);
  await inside("ip", "link", "set", "lo", "up");
  // Without an address of its own a bridge takes the lowest of its ports', so it would change with the pods and neighbours would lose it.
  await inside("ip", "link", "add", "pods", "address", bridgeAddress(nodeAddress), "type", "bridge");
  await inside("ip", "addr", "add", `${nodeAddress}/24`, "dev", "pods");
  await inside("ip", "link", "set", "pods", "up");
  await inside("sysctl", "-qw", "net.ipv4.ip_forward=1");
  // Else a pod that asks a service for itself is answered by nobody: the bridge does not send a frame back where it came from.
  if (existsSync("/proc/sys/net/bridge")) await inside("sysctl", "-qw", "net.bridge.bridge-nf-call-iptables=0");
  await run("ip", ["link", "add", link, "type", "veth", "peer", "name", "machine", "netns", String(keeper(dir))]);
  await inside("ip", "link", "set", "machine", "master", "pods", "up");
  await run("ip", ["addr", "add", `${hostAddress}/24`, "dev", link]);
  await run("ip", ["link", "set", link, "up"]);
}

const bridgeAddress = (address: string): string =>
  ["02:6b", ...address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"))].join(":");

/** A second owner of these addresses would make both unreachable now and then. */
export async function checkNetworkFree({ subnet }: Settings): Promise<void> {
  const routes = JSON.parse((await run("ip", ["-json", "route", "show", "root", `${subnet}.0/24`])) || "[]") as {
    dst: string;
    dev: string;
  }[];
  const taken = routes.find(({ dst }) => dst !== "default");
  if (taken)
    throw new Error(`the network ${subnet}.0/24 is in use (${taken.dst} on ${taken.dev}): set KUBE_SUBNET to another, such as 10.213.78`);
}

/** Usually gone with the node already. */
export async function removeLink(link: string): Promise<void> {
  await run("ip", ["link", "del", link]).catch((error: Error) => {
    if (!error.message.includes("Cannot find device")) throw error;
  });
}
