import { join } from "node:path";
import { type EndRecord, readEnd } from "@paperclip-k8s/engine";
import type { AgentCli } from "@paperclip-k8s/paperclip/agent-cli/agent-cli";
import { countOf } from "@paperclip-k8s/paperclip/agent-cli/json-fields";
import type { HostApi } from "@paperclip-k8s/paperclip/host-api";
import { costMark } from "@paperclip-k8s/paperclip/paths";
import { recordOf, textOf } from "@paperclip-k8s/paperclip/values";
import { cliOfType } from "../../../agent-clis.ts";
import type { Place } from "../arguments/values.ts";
import { isFinished, readIssue } from "../recovery/find/held-issues.ts";
import type { ListedRun } from "../recovery/find/listed-runs.ts";
import { unlessGone } from "../recovery/find/run-record.ts";
import { type KeptFiles, keptFiles } from "../recovery/last-attempt.ts";
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
interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly model: string | null;
  /** Every output is the run's own, by the hash in its runner's signed record. */
  readonly genuine: boolean;
}

/** Where its files are; `folders` keeps what was listed of them, since one agent has many runs. */
export type Looking = Place & { readonly secret: Uint8Array | null; readonly folders: Map<string, KeptFiles | null> };

/** A lost run that has left a proved end, and whose issue is finished: nobody else will report it. Null = it is none of these. */
export async function readUnattended(host: HostApi, run: ListedRun, looking: Looking): Promise<Unattended | null> {
  const { folders } = looking;
  if (run.agentId === null) return null;
  if (!folders.has(run.agentId)) folders.set(run.agentId, await keptFiles({ id: run.agentId, companyId: run.companyId }, looking));
  const kept = folders.get(run.agentId) ?? null;
  return kept === null ? null : readOne(host, run, kept, looking);
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
