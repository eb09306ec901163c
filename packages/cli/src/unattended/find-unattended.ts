import { join } from "node:path";
import { type EndRecord, readEnd } from "@paperclip-k8s/engine";
import type { AgentCli } from "@paperclip-k8s/paperclip/agent-cli/agent-cli";
import { countOf } from "@paperclip-k8s/paperclip/agent-cli/json-fields";
import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { costMark } from "@paperclip-k8s/paperclip/paths";
import { recordOf, textOf } from "@paperclip-k8s/paperclip/values";
import { cliOfType } from "../../../agent-clis.ts";
import type { Place } from "../arguments.ts";
import { isFinished, readIssue, unlessGone } from "../recovery/held-issues.ts";
import { type KeptFiles, keptFiles } from "../recovery/last-attempt.ts";
import type { ListedRun } from "../recovery/listed-runs.ts";
import { readOutput } from "./kept-output.ts";

/** A run that ended while no server followed it, and whose issue nobody works on any more: its host shows neither its cost nor all of its transcript. */
export interface Unattended {
  readonly run: ListedRun;
  readonly agentId: string;
  /** Null = it worked for no issue. */
  readonly issue: { readonly id: string; readonly identifier: string; readonly projectId: string | null } | null;
  readonly cli: AgentCli;
  readonly end: EndRecord;
  /** Of the last attempt. */
  readonly output: string;
  readonly usage: Usage;
  /** Where it is noted that its cost has been reported. */
  readonly mark: string;
}

/** What all attempts of a run used. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly model: string | null;
  /** Every output is the run's own, by the hash in its runner's signed record. */
  readonly genuine: boolean;
}

type Looking = Place & { readonly secret: Uint8Array | null; readonly known?: Map<string, Unattended> };

/** Of these lost runs, those that have left a proved end, and whose issue is finished: nobody else will report them. */
export async function findUnattended(host: HostApi, runs: readonly ListedRun[], looking: Looking): Promise<Unattended[]> {
  const found: Unattended[] = [];
  const folders = new Map<string, Promise<KeptFiles | null>>();
  // One after the other: a slow volume is not to be taken for one that hangs.
  for (const run of runs) {
    const known = looking.known?.get(run.id);
    if (known !== undefined) found.push(known);
    if (known !== undefined) continue;
    const agent = { id: run.agentId ?? "", companyId: run.companyId };
    const kept = await (folders.get(agent.id) ?? folders.set(agent.id, keptFiles(agent, looking)).get(agent.id));
    const one = kept == null ? null : await readOne(host, run, kept, looking);
    if (one === null) continue;
    found.push(one);
    looking.known?.set(run.id, one);
  }
  return found;
}

async function readOne(host: HostApi, run: ListedRun, kept: KeptFiles, { secret }: Looking): Promise<Unattended | null> {
  const attempts = kept.files.filter(({ runId }) => runId === run.id).toSorted((a, b) => a.attempt - b.attempt);
  const last = attempts.at(-1);
  if (last === undefined || run.agentId === null) return null;
  const issue = run.issueId === null ? null : await readIssue(host, run.issueId).catch(unlessGone);
  if (run.issueId !== null && (issue === null || !isFinished(issue))) return null;
  const agent = recordOf(await host.get(`/agents/${encodeURIComponent(run.agentId)}`).catch(unlessGone));
  const cli = await cliOfType(textOf(agent.adapterType));
  if (cli === null) return null;
  const read = [];
  for (const { output } of attempts) read.push(await readAttempt(join(kept.folder, output), cli, { run: run.id, secret }));
  const end = read.at(-1)?.end ?? null;
  // Not over, or nothing proves that it is.
  if (end === null) return null;
  const place = { output: join(kept.folder, last.output), mark: join(kept.folder, costMark(run.id)) };
  return { run, agentId: run.agentId, issue, cli, end, usage: usageOf(read), ...place };
}

async function readAttempt(path: string, cli: AgentCli, { run, secret }: { readonly run: string; readonly secret: Uint8Array | null }) {
  const found = await readEnd(path, { run, nonce: null, secret });
  const end = found?.proved ? found.record : null;
  return { end, read: end === null ? null : await readOutput(path, cli, end) };
}

function usageOf(attempts: readonly Awaited<ReturnType<typeof readAttempt>>[]): Usage {
  const reports = attempts.flatMap(({ read }) => (read === null ? [] : [read.report]));
  const sum = (key: "inputTokens" | "cachedInputTokens" | "outputTokens") =>
    reports.reduce((total, report) => total + Math.round(countOf(report[key])), 0);
  const costs = reports.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    inputTokens: sum("inputTokens"),
    cachedInputTokens: sum("cachedInputTokens"),
    outputTokens: sum("outputTokens"),
    costUsd: costs.length === 0 ? null : costs.reduce((total, cost) => total + countOf(cost), 0),
    model: reports.at(-1)?.model ?? null,
    genuine: attempts.every(({ read }) => read?.genuine === true),
  };
}
