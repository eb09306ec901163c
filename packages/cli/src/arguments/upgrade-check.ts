import { resolve } from "node:path";
import type { ClusterArguments } from "../cluster/access.ts";
import { type HostArguments, hostArguments } from "./host.ts";
import { clusterArguments, type Given, isJson, text } from "./values.ts";

export interface UpgradeCheckCommand {
  readonly name: "upgrade-check";
  readonly host: HostArguments;
  /** Where Jobs and claims are looked for; it says nothing about where the server is. */
  readonly cluster: ClusterArguments;
  /** Null = the one that the environment names, else the defaults. */
  readonly policy: string | null;
  /** Namespace of the server's own pod; null = only known if this runs in it. */
  readonly serverNamespace: string | null;
  readonly json: boolean;
}

export function upgradeCheckCommand(given: Given, env: NodeJS.ProcessEnv): UpgradeCheckCommand {
  const policy = text(given.policy);
  return {
    name: "upgrade-check",
    host: hostArguments(given, env),
    cluster: clusterArguments(given),
    policy: policy === null ? null : resolve(policy),
    serverNamespace: text(given["server-namespace"]),
    json: isJson(given),
  };
}
