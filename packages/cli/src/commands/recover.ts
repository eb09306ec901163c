import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ConnectOptions } from "@paperclip-k8s/engine";
import { ANNOTATION } from "@paperclip-k8s/paperclip/keys";
import type { Command } from "../arguments.ts";
import { clusterOf, namespacesOf } from "../cluster/access.ts";
import { type Found, survey } from "../cluster/survey.ts";
import { HostApi, HostError } from "../host/api.ts";
import { type HeldIssue, heldIssues, readHeld } from "../host/held-issues.ts";
import { resolveHold } from "../host/resolve-hold.ts";
import { count, table } from "../output/table.ts";
import { type Judged, judgeHold } from "../recovery/judge-hold.ts";
import { EXIT, type ExitCode, type Terminal } from "../terminal.ts";

type Recover = Extract<Command, { name: "recover" }>;

interface Scene {
  readonly host: HostApi;
  readonly cluster: ConnectOptions;
  readonly namespaces: readonly string[];
  readonly command: Recover;
  readonly terminal: Terminal;
}

export async function recover(command: Recover, terminal: Terminal): Promise<ExitCode> {
  const cluster = clusterOf(command.cluster, terminal.env);
  const namespaces = await namespacesOf(command.cluster, cluster, terminal.env);
  const host = new HostApi(command.host.url, command.host.token);
  const scene: Scene = { host, cluster, namespaces, command, terminal };
  if (command.watch === null) return round(scene, "").then(({ left }) => (left === 0 ? EXIT.done : EXIT.left));
  await watch(scene, command.watch);
  return EXIT.done;
}

/** Says something only when something has changed; a host or cluster that is away for a while is waited for. */
async function watch(scene: Scene, everySec: number): Promise<void> {
  const { stopped, err } = scene.terminal;
  let said = "";
  let trouble = "";
  while (!stopped.aborted) {
    try {
      said = (await round(scene, said)).said;
      trouble = "";
    } catch (error) {
      if (!(error instanceof HostError || error instanceof ApiError)) throw error;
      if (error.message !== trouble) err(`${error.message}; trying again`);
      trouble = error.message;
    }
    await sleep(everySec * 1000, undefined, { signal: stopped }).catch(() => {});
  }
}

/** The cluster first: what is held afterwards was held by then, and a Job that ends in between is seen in the next round. */
async function round(scene: Scene, said: string): Promise<{ left: number; said: string }> {
  const { command, terminal, namespaces } = scene;
  const jobs = await survey(scene.cluster, namespaces);
  const held = await heldOnes(scene, jobs);
  const judged = await Promise.all(held.map((issue) => judgeHold(issue, jobs, command)));
  const list = listing(judged, namespaces).join("\n");
  if (list !== said) terminal.out(list);
  let left = judged.length;
  for (const one of judged) if (one.statement !== null && !command.dryRun && (await release(scene, one))) left--;
  return { left, said: list };
}

/** A named issue is looked at as it is; else all that are marked as held, and the tasks of the Jobs found. */
async function heldOnes({ host, command }: Scene, jobs: readonly Found[]): Promise<HeldIssue[]> {
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

export function listing(judged: readonly Judged[], namespaces: readonly string[]): string[] {
  if (judged.length === 0) return ["no issue is held"];
  const columns = [{ title: "ISSUE", max: 12 }, { title: "RUN" }, { title: "ENDED AS", max: 28 }, { title: "JOB" }];
  const rows = judged.map(({ issue, summary }) => [issue.identifier, issue.runId.slice(0, 8), endedAs(issue), summary]);
  const ready = judged.filter(({ statement }) => statement !== null).length;
  const where = namespaces.length === 1 ? `namespace ${namespaces[0]}` : `namespaces ${namespaces.join(", ")}`;
  return [...table(columns, rows), `${count(judged.length, "issue")} held, ${ready} to be released; Jobs looked for in ${where}`];
}

/** What the host's record says; the code only where it says more than the status. */
const endedAs = ({ run: { status, errorCode } }: HeldIssue): string =>
  errorCode === null || errorCode.includes(status) ? status : `${status}/${errorCode}`;

async function release({ host, terminal }: Scene, { issue, statement }: Judged): Promise<boolean> {
  if (statement === null) return false;
  try {
    const result = await resolveHold(host, issue, statement);
    if (result.kind === "still-held") {
      terminal.err(`${issue.identifier}: still held (${result.cause})`);
      return false;
    }
    const next = result.nextRun === null ? "the next run has not been seen yet" : `run ${result.nextRun} follows`;
    const rows = result.rows === 1 ? "" : `, of ${result.rows} holds`;
    terminal.out(`${issue.identifier}: released (${statement.actionOutcome}${rows}); ${next}`);
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    terminal.err(`${issue.identifier}: ${error.message}`);
    return false;
  }
}
