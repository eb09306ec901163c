import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ConnectOptions } from "@paperclip-k8s/engine";
import { HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import type { Command } from "../arguments.ts";
import { clusterOf, namespacesOf, secretOf } from "../cluster/access.ts";
import { type FoundJob, findJobs } from "../cluster/jobs.ts";
import { decideOn, type RecoveryDecision } from "../recovery/decision.ts";
import { type HeldIssue, heldIssues, readHeld } from "../recovery/held-issues.ts";
import { release } from "../recovery/release.ts";
import { count, table } from "../table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

/** Lists of a large company take the host a while. */
const HOST_TIMEOUT_MS = 30_000;

type Recover = Extract<Command, { name: "recover" }>;

interface Recovery {
  readonly host: HostApi;
  readonly cluster: ConnectOptions;
  readonly secret: Uint8Array | null;
  readonly namespaces: readonly string[];
  readonly command: Recover;
  readonly terminal: Terminal;
}

export async function recover(command: Recover, terminal: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, terminal.env);
  const namespaces = await namespacesOf(command.cluster, cluster, terminal.env);
  const host = new HostApi(command.host.url, command.host.token, HOST_TIMEOUT_MS);
  const secret = await secretOf(terminal.env, command);
  const recovery: Recovery = { host, cluster, secret, namespaces, command, terminal };
  if (command.watch === null) return round(recovery, "").then(({ left }) => (left === 0 ? EXIT.done : EXIT.left));
  await watch(recovery, command.watch);
  return EXIT.done;
}

/** Prints only what has changed; a host or cluster that is away for a while is waited for. */
async function watch(recovery: Recovery, everySec: number): Promise<void> {
  const { stopped, err } = recovery.terminal;
  let printed = "";
  let problem = "";
  while (!stopped.aborted) {
    try {
      printed = (await round(recovery, printed)).printed;
      problem = "";
    } catch (error) {
      if (!(error instanceof HostError || error instanceof ApiError)) throw error;
      if (error.message !== problem) err(`${error.message}; trying again`);
      problem = error.message;
    }
    await sleep(everySec * 1000, undefined, { signal: stopped }).catch(() => {});
  }
}

/** The cluster first: an issue that is held afterwards was held by then, and a Job that ends in between is seen in the next round. */
async function round(recovery: Recovery, printed: string): Promise<{ left: number; printed: string }> {
  const { command, terminal, namespaces } = recovery;
  const { cluster, secret } = recovery;
  const jobs = await findJobs({ cluster, secret }, namespaces);
  const held = await heldOnes(recovery, jobs);
  const decisions = await Promise.all(held.map((issue) => decideOn(issue, jobs, { ...command, secret })));
  const lines = listing(decisions, namespaces);
  const list = lines.join("\n");
  if (list !== printed) for (const line of lines) terminal.out(line);
  let left = decisions.length;
  for (const one of decisions) if (one.reconciliation !== null && !command.dryRun && (await releaseOne(recovery, one))) left--;
  return { left, printed: list };
}

/** A named issue is looked at as it is; else all that are marked as held, and the tasks of the Jobs found. */
async function heldOnes({ host, command }: Recovery, jobs: readonly FoundJob[]): Promise<HeldIssue[]> {
  if (command.issues.length > 0) {
    const found = await Promise.all(command.issues.map((id) => readHeld(host, id)));
    return found.filter((issue) => issue !== null);
  }
  const hints = jobs.flatMap(({ job: { annotations }, runIds: [run] }) => {
    const task = annotations[ANNOTATION.taskId];
    return task === undefined || run === undefined ? [] : [{ task, run }];
  });
  return heldIssues(host, command.host.company, hints);
}

export function listing(decisions: readonly RecoveryDecision[], namespaces: readonly string[]): string[] {
  if (decisions.length === 0) return ["no issue is held"];
  const columns = [{ title: "ISSUE", max: 12 }, { title: "RUN" }, { title: "ENDED AS", max: 28 }, { title: "JOB" }];
  const rows = decisions.map(({ issue, summary }) => [issue.identifier, issue.run.id.slice(0, 8), endedAs(issue), summary]);
  const ready = decisions.filter(({ reconciliation }) => reconciliation !== null).length;
  const where = namespaces.length === 1 ? `namespace ${namespaces[0]}` : `namespaces ${namespaces.join(", ")}`;
  return [...table(columns, rows), `${count(decisions.length, "issue")} held, ${ready} to be released; Jobs looked for in ${where}`];
}

/** What the host's record says; the code only where it says more than the status. */
const endedAs = ({ run: { status, errorCode } }: HeldIssue): string =>
  errorCode === null || errorCode.includes(status) ? status : `${status}/${errorCode}`;

async function releaseOne({ host, terminal }: Recovery, { issue, reconciliation }: RecoveryDecision): Promise<boolean> {
  if (reconciliation === null) return false;
  try {
    const result = await release(host, issue, reconciliation);
    if (result.kind === "still-held") {
      terminal.err(`${issue.identifier}: still held (${result.cause})`);
      return false;
    }
    const next = result.nextRun === null ? "the next run has not been seen yet" : `run ${result.nextRun} follows`;
    const rows = result.rows === 1 ? "" : `, of ${result.rows} holds`;
    terminal.out(`${issue.identifier}: released (${reconciliation.actionOutcome}${rows}); ${next}`);
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    terminal.err(`${issue.identifier}: ${error.message}`);
    return false;
  }
}
