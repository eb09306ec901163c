import { HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import { placeLine, placesOf } from "../adapters/places.ts";
import type { Command } from "../arguments/command.ts";
import type { HostArguments } from "../arguments/host.ts";
import { clusterOf, namespacesOf, secretOf } from "../cluster/access.ts";
import { howEnded } from "../cluster/job-state.ts";
import { type FoundJob, findJobs } from "../cluster/jobs.ts";
import { age, count, table } from "../table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

const HOST_TIMEOUT_MS = 10_000;

export async function status(command: Extract<Command, { name: "status" }>, { out, env }: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, env);
  const namespaces = await namespacesOf(command.cluster, cluster, env);
  const secret = await secretOf(env, null);
  const [places, found] = await Promise.all([findPlaces(command.host), findJobs({ cluster, secret }, namespaces)]);
  for (const line of places.lines) out(line);
  const exit = places.isLost ? EXIT.left : EXIT.done;
  if (found.length === 0) {
    out(`no agent has a Job in ${namespaces.join(", ")}`);
    return exit;
  }
  for (const line of statusTable(found, Date.now())) out(line);
  out(`${count(found.length, "Job")}, ${found.filter(({ state }) => state.kind === "alive").length} of them at work`);
  return exit;
}

/** Jobs are listed also where the server cannot be asked. */
async function findPlaces({ url, token }: HostArguments): Promise<{ readonly lines: readonly string[]; readonly isLost: boolean }> {
  try {
    const found = await placesOf(new HostApi(url, token, HOST_TIMEOUT_MS));
    const lines = table([{ title: "TYPE" }, { title: "RUN BY" }], found.map(placeLine));
    return { lines, isLost: found.some(({ state }) => state === "paused" || state === "lost") };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { lines: [`whether agents of built-in types run as Jobs is not known: ${error.message}`], isLost: false };
  }
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
