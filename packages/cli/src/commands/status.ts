import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import type { Command } from "../arguments/command.ts";
import { clusterOf, namespacesOf, secretOf } from "../cluster/access.ts";
import { howEnded } from "../cluster/job-state.ts";
import { type FoundJob, findJobs } from "../cluster/jobs.ts";
import { age, count, table } from "../table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

export async function status(command: Extract<Command, { name: "status" }>, { out, env }: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, env);
  const namespaces = await namespacesOf(command.cluster, cluster, env);
  const found = await findJobs({ cluster, secret: await secretOf(env, null) }, namespaces);
  if (found.length === 0) {
    out(`no agent has a Job in ${namespaces.join(", ")}`);
    return EXIT.done;
  }
  for (const line of statusTable(found, Date.now())) out(line);
  out(`${count(found.length, "Job")}, ${found.filter(({ state }) => state.kind === "alive").length} of them at work`);
  return EXIT.done;
}

function statusTable(found: readonly FoundJob[], now: number): string[] {
  const columns = [{ title: "AGENT", max: 16 }, { title: "RUN" }, { title: "AGE" }, { title: "STATE", max: 9 }, { title: "" }];
  const rows = found.map(({ job, namespace, runIds, state }) => [
    job.annotations[ANNOTATION.agentName] ?? "-",
    (runIds[0] ?? "-").slice(0, 8),
    age(job.createdAt, now),
    state.kind,
    `${state.kind === "ended" ? `the agent ${howEnded(state)}` : state.why}; ${namespace}/${job.name}`,
  ]);
  return table(columns, rows);
}
