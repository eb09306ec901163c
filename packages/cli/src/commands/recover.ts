import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ConnectOptions } from "@paperclip-k8s/engine";
import { HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import type { RecoverCommand } from "../arguments/recover.ts";
import { clusterOf, namespacesOf, secretOf } from "../cluster/access.ts";
import { type FoundJob, findJobs } from "../cluster/jobs.ts";
import { decideOn, type RecoveryDecision } from "../recovery/decision.ts";
import { aFewAtOnce } from "../recovery/find/a-few-at-once.ts";
import { type SearchResult, searchHost } from "../recovery/find/candidates.ts";
import { type HeldIssue, isFinished, readIssue, type WaitingIssue } from "../recovery/find/held-issues.ts";
import { unlessGone } from "../recovery/find/run-record.ts";
import { type Looked, listing } from "../recovery/listing.ts";
import { release, restore } from "../recovery/release.ts";
import { sentence } from "../table.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";
import { unattendedListing } from "../unattended/listing.ts";
import { lookAtUnattended, Memory } from "../unattended/look-at-unattended.ts";

/** Lists of a large company take the host a while. */
const HOST_TIMEOUT_MS = 30_000;
const AT_ONCE = 6;

interface Recovery {
  readonly host: HostApi;
  readonly cluster: ConnectOptions;
  readonly secret: Uint8Array | null;
  readonly namespaces: readonly string[];
  readonly command: RecoverCommand;
  readonly terminal: Terminal;
  readonly memory: Memory;
  /** Issues without a listed run that an earlier round has found free. */
  readonly knownFree: Set<string>;
}

/** What was printed last, to print it again only where it has changed. */
interface Printed {
  readonly issues: string;
  readonly unattended: string;
}
const NOTHING: Printed = { issues: "", unattended: "" };

export async function recover(command: RecoverCommand, terminal: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, terminal.env);
  const namespaces = await namespacesOf(command.cluster, cluster, terminal.env);
  const host = new HostApi(command.host.url, command.host.token, HOST_TIMEOUT_MS);
  const secret = await secretOf(terminal.env, command);
  const recovery: Recovery = { host, cluster, secret, namespaces, command, terminal, memory: new Memory(), knownFree: new Set() };
  if (command.watch === null) return round(recovery, NOTHING).then(({ left }) => (left === 0 ? EXIT.done : EXIT.left));
  await watch(recovery, command.watch);
  return EXIT.done;
}

/** Prints only what has changed; a host or cluster that is away for a while is waited for. */
async function watch(recovery: Recovery, everySec: number): Promise<void> {
  const { stopped, err } = recovery.terminal;
  let printed = NOTHING;
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

/**
 * The cluster first: an issue that is held afterwards was held by then, and a Job that ends in between is seen in the next round. Costs last,
 * because nobody waits for them.
 */
async function round(recovery: Recovery, printed: Printed): Promise<{ left: number; printed: Printed }> {
  const { command, terminal, namespaces, cluster, secret } = recovery;
  const jobs = await findJobs({ cluster, secret }, namespaces);
  const { issues, ...looked } = command.issues.length > 0 ? await namedIssues(recovery) : await foundIssues(recovery, jobs);
  const options = { ...command, secret, isNamed: command.issues.length > 0, statement: command.stopped };
  const decisions = await Promise.all(issues.map((issue) => decideOn(issue, jobs, options)));
  const listed = print(terminal, listing(decisions, { ...looked, namespaces }), printed.issues);
  const results = command.dryRun ? [] : await aFewAtOnce(decisions, AT_ONCE, (decision) => perform(recovery, decision));
  const unattended = print(terminal, await unattendedRuns(recovery, looked.search, jobs), printed.unattended);
  const held = decisions.filter(({ issue }) => issue.kind === "held").length;
  return { left: held - results.filter((done) => done === "released").length, printed: { issues: listed, unattended } };
}

function print(terminal: Terminal, lines: readonly string[], before: string): string {
  const text = lines.join("\n");
  if (text !== before) for (const line of lines) terminal.out(line);
  return text;
}

type Found = Omit<Looked, "namespaces" | "search"> & {
  readonly search: SearchResult | null;
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
async function foundIssues({ host, command, knownFree }: Recovery, jobs: readonly FoundJob[]): Promise<Found> {
  const hints = jobs.flatMap(({ job: { annotations }, runIds: [run] }) => {
    const task = annotations[ANNOTATION.taskId];
    return task === undefined || run === undefined ? [] : [{ task, run }];
  });
  const searched = await searchHost(host, command.host.company, hints, knownFree);
  const read = await aFewAtOnce(searched.candidates, AT_ONCE, (id) => readIssue(host, id).catch(unlessGone));
  for (const issue of read) if (issue?.kind === "free") knownFree.add(issue.id);
  const all = read.filter((issue) => issue !== null && issue.kind !== "free" && searched.companies.includes(issue.companyId));
  const stopped = (all as (HeldIssue | WaitingIssue)[]).sort(byIdentifier);
  const finished = stopped.filter((issue) => issue.kind === "held" && isFinished(issue)).map(({ identifier }) => identifier);
  return { issues: stopped.filter((issue) => !isFinished(issue)), search: searched, finished };
}

/** Runs that nobody goes on with. A host that cannot be asked about them stops nothing else. */
async function unattendedRuns(recovery: Recovery, search: SearchResult | null, jobs: readonly FoundJob[]): Promise<string[]> {
  const { host, command, secret, memory } = recovery;
  const around = { ...command, jobs, secret, memory, isReporting: command.costs && !command.dryRun };
  try {
    return unattendedListing(await lookAtUnattended(host, search?.runs ?? [], around));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return [`runs that ended while no server was there were not looked for: ${error.message}`];
  }
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
    terminal.err(`${identifier}: ${withAdvice(error)}`);
    return "left";
  }
}

/** A refusal, with what to do about it where its text does not say so. */
const withAdvice = ({ message }: HostError): string =>
  message.includes("task owner changed")
    ? `${sentence(message)} Assign the issue to the agent of that run again, then try once more.`
    : message;

const followed = (next: string | null): string =>
  next === null ? "no run has followed yet: a comment on the issue starts one" : `run ${next} follows`;
