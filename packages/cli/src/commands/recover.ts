import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ConnectOptions } from "@paperclip-k8s/engine";
import { HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import type { Command } from "../arguments.ts";
import { clusterOf, namespacesOf, secretOf } from "../cluster/access.ts";
import { type FoundJob, findJobs } from "../cluster/jobs.ts";
import { aFewAtOnce } from "../recovery/a-few-at-once.ts";
import { type Search, search } from "../recovery/candidates.ts";
import { decideOn, type RecoveryDecision } from "../recovery/decision.ts";
import { type HeldIssue, isFinished, readIssue, unlessGone, type WaitingIssue } from "../recovery/held-issues.ts";
import { type Looked, listing } from "../recovery/listing.ts";
import { release, restore } from "../recovery/release.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";
import { findUnattended, type Unattended } from "../unattended/find-unattended.ts";
import { unattendedListing } from "../unattended/listing.ts";
import { lostForGood } from "../unattended/lost-runs.ts";
import { readMark, reportCost } from "../unattended/report-cost.ts";

/** Lists of a large company take the host a while. */
const HOST_TIMEOUT_MS = 30_000;
const AT_ONCE = 6;

type Recover = Extract<Command, { name: "recover" }>;

interface Recovery {
  readonly host: HostApi;
  readonly cluster: ConnectOptions;
  readonly secret: Uint8Array | null;
  readonly namespaces: readonly string[];
  readonly command: Recover;
  readonly terminal: Terminal;
  /** Runs that were read in an earlier round: their files do not change any more, and may be large. */
  readonly unattended: Map<string, Unattended>;
}

export async function recover(command: Recover, terminal: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, terminal.env);
  const namespaces = await namespacesOf(command.cluster, cluster, terminal.env);
  const host = new HostApi(command.host.url, command.host.token, HOST_TIMEOUT_MS);
  const secret = await secretOf(terminal.env, command);
  const recovery: Recovery = { host, cluster, secret, namespaces, command, terminal, unattended: new Map() };
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
  const { command, terminal, namespaces, cluster, secret } = recovery;
  const jobs = await findJobs({ cluster, secret }, namespaces);
  const { issues, ...looked } = command.issues.length > 0 ? await namedIssues(recovery) : await foundIssues(recovery, jobs);
  const options = { ...command, secret, isNamed: command.issues.length > 0, words: command.stopped };
  const decisions = await Promise.all(issues.map((issue) => decideOn(issue, jobs, options)));
  const lines = [...listing(decisions, { ...looked, namespaces }), ...(await unattended(recovery, looked.search, jobs))];
  const list = lines.join("\n");
  if (list !== printed) for (const line of lines) terminal.out(line);
  const results = command.dryRun ? [] : await aFewAtOnce(decisions, AT_ONCE, (decision) => perform(recovery, decision));
  const held = decisions.filter(({ issue }) => issue.kind === "held").length;
  return { left: held - results.filter((done) => done === "released").length, printed: list };
}

type Found = Omit<Looked, "namespaces" | "search"> & {
  readonly search: Search | null;
  readonly issues: readonly (HeldIssue | WaitingIssue)[];
};

/** Each as it is, whatever its status. */
async function namedIssues({ host, command, terminal }: Recovery): Promise<Found> {
  const found = await Promise.all(command.issues.map((id) => readIssue(host, id)));
  const issues = found.filter((issue) => issue.kind !== "free");
  for (const one of found) if (one.kind === "free") terminal.out(`${one.identifier} is not held: its status is ${one.status}`);
  return { issues, search: null, finished: [] };
}

/** Whatever the host's records or a Job without a live run point at. */
async function foundIssues({ host, command }: Recovery, jobs: readonly FoundJob[]): Promise<Found> {
  const hints = jobs.flatMap(({ job: { annotations }, runIds: [run] }) => {
    const task = annotations[ANNOTATION.taskId];
    return task === undefined || run === undefined ? [] : [{ task, run }];
  });
  const searched = await search(host, command.host.company, hints);
  const read = await aFewAtOnce(searched.candidates, AT_ONCE, (id) => readIssue(host, id).catch(unlessGone));
  const all = read.filter((issue) => issue !== null && issue.kind !== "free" && searched.companies.includes(issue.companyId));
  const stopped = (all as (HeldIssue | WaitingIssue)[]).sort(byIdentifier);
  const finished = stopped.filter((issue) => issue.kind === "held" && isFinished(issue)).map(({ identifier }) => identifier);
  return { issues: stopped.filter((issue) => !isFinished(issue)), search: searched, finished };
}

/** Runs that nobody goes on with: what became of them is said here, and what they cost is reported once. */
async function unattended(recovery: Recovery, search: Search | null, jobs: readonly FoundJob[]): Promise<string[]> {
  const { host, command, secret } = recovery;
  const lost = search === null ? [] : lostForGood(search.runs, jobs);
  const found = await findUnattended(host, lost, { ...command, secret, known: recovery.unattended });
  const isReporting = command.costs && !command.dryRun;
  const costs = [];
  for (const one of found) costs.push([one, isReporting ? await reportCost(host, one) : await readMark(one.mark)] as const);
  return unattendedListing(costs);
}

const byIdentifier = (a: HeldIssue | WaitingIssue, b: HeldIssue | WaitingIssue): number =>
  a.identifier.localeCompare(b.identifier, "en", { numeric: true });

/** Does what was decided, and says what came of it. */
async function perform({ host, terminal }: Recovery, decision: RecoveryDecision): Promise<"released" | "left"> {
  if (decision.act === "leave") return "left";
  const { identifier } = decision.issue;
  try {
    if (decision.act === "restore") {
      const next = await restore(host, decision.issue, decision.actionId);
      terminal.out(`${identifier}: set to todo; ${followed(next)}`);
      return "left";
    }
    const { issue, reconciliation } = decision;
    const result = await release(host, issue, reconciliation);
    if (result.kind === "still-held") {
      terminal.err(`${identifier}: still held (${result.cause})`);
      return "left";
    }
    const rows = result.rows === 1 ? "" : `, of ${result.rows} holds`;
    terminal.out(`${identifier}: released (${reconciliation.actionOutcome}${rows}); ${followed(result.nextRun)}`);
    return "released";
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    terminal.err(`${identifier}: ${error.message}${adviceOn(error)}`);
    return "left";
  }
}

/** What to do about a refusal whose text does not say it. */
const adviceOn = ({ message }: HostError): string =>
  message.includes("task owner changed") ? " Assign the issue to the agent of that run again, then try once more." : "";

const followed = (next: string | null): string =>
  next === null ? "no run has followed yet: a comment on the issue starts one" : `run ${next} follows`;
