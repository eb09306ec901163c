import { removeJob } from "@paperclip-k8s/engine";
import type { Command } from "../arguments.ts";
import { clusterOf, namespacesOf } from "../cluster/access.ts";
import { isLeftover } from "../cluster/leftover.ts";
import { survey } from "../cluster/survey.ts";
import { count } from "../output/table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";
import { statusTable } from "./status.ts";

export async function sweep(command: Extract<Command, { name: "sweep" }>, { out, err, env }: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, env);
  const namespaces = await namespacesOf(command.cluster, cluster, env);
  const now = Date.now();
  const leftovers = (await survey(cluster, namespaces)).filter((found) => isLeftover(found, command.olderThanSec, now));
  if (leftovers.length === 0) {
    out(`nothing is left over in ${namespaces.join(", ")}`);
    return EXIT.done;
  }
  for (const line of statusTable(leftovers, now)) out(line);
  if (!command.delete) {
    out(`${count(leftovers.length, "leftover")}; --delete removes them`);
    return EXIT.done;
  }
  let failed = 0;
  for (const { namespace, job } of leftovers) {
    try {
      const result = await removeJob(cluster, namespace, job);
      out(
        `${namespace}/${job.name}: ${result === "deleted" ? "deleted" : result === "gone" ? "gone already" : "another Job has its name now"}`,
      );
    } catch (error) {
      failed++;
      err(`${namespace}/${job.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failed === 0 ? EXIT.done : EXIT.trouble;
}
