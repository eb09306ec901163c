import { ownPodIdentity } from "@paperclip-k8s/engine";
import { HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { inspectPolicy } from "@paperclip-k8s/paperclip/policy";
import type { UpgradeCheckCommand } from "../arguments/upgrade-check.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";
import { type FoundAgents, findAgents } from "../upgrade/find-agents.ts";
import { upgradeListing } from "../upgrade/listing.ts";
import { lookAtCluster } from "../upgrade/look-at-cluster.ts";
import { needsWork, upgradeReport } from "../upgrade/report.ts";

const HOST_TIMEOUT_MS = 30_000;

/** Reads only: the server may have the earlier adapters, these, or none. */
export async function upgradeCheck(command: UpgradeCheckCommand, { out, err, env }: Terminal): Promise<ExitCode> {
  const { source, problems, policy } = await inspectPolicy(command.policy, env);
  if (policy === null) {
    for (const problem of problems) err(`${source}: ${problem}`);
    err("a server with this policy starts no run");
    return EXIT.error;
  }
  const found = await agentsOf(command.host);
  const serverNamespace = command.serverNamespace ?? (await ownPodIdentity(env))?.namespace ?? null;
  const cluster = await lookAtCluster(found.agents, { given: command.cluster, serverNamespace, env });
  const report = upgradeReport({ server: command.host.url, found, cluster, policy, serverNamespace });
  const lines = command.json ? JSON.stringify(report, null, 2).split("\n") : upgradeListing(report);
  for (const line of lines) out(line);
  return needsWork(report) ? EXIT.left : EXIT.done;
}

async function agentsOf({ url, token, company }: UpgradeCheckCommand["host"]): Promise<FoundAgents> {
  try {
    return await findAgents(new HostApi(url, token, HOST_TIMEOUT_MS), company);
  } catch (error) {
    const isKey = error instanceof HostError && (error.status === 401 || error.status === 403);
    if (!isKey || error.message.includes("board API key")) throw error;
    throw new HostError(`${error.message}; a board API key is needed (PAPERCLIP_API_KEY), not an agent's`, error.status, { cause: error });
  }
}
