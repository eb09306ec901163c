import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, Issue, Run } from "../../host/company.ts";
import type { AnyStage } from "../../stage.ts";

const PAUSE_MS = 1000;

export interface Followed {
  /** Runs that the host had in this state when it last answered. */
  runs(status: "queued" | "running" | "scheduled_retry"): readonly Run[];
  /** Asks the host now. */
  look(): Promise<void>;
}

interface Following {
  readonly stage: AnyStage;
  readonly agents: readonly Agent[];
  readonly pageOf: (run: Run) => string;
  readonly say: (line: string) => void;
  readonly stopped: AbortSignal;
}

/** Reports each change of a run and of an issue's status, as long as the host answers; what was over before is not news. */
export function followRuns(following: Following): Followed {
  const { stage, stopped } = following;
  const shown = new Map<string, string>();
  let runs: readonly Run[] = [];
  let first = true;

  async function look(): Promise<void> {
    const issues = new Map((await stage.company.issues()).map((issue) => [issue.id, issue]));
    runs = await stage.company.allRuns();
    for (const run of [...runs].reverse()) report(run.id, run.status, () => runLine(following, run, issues.get(issueOf(run))));
    for (const issue of issues.values()) report(issue.id, issue.status, () => issueLine(issue));
    first = false;
  }

  function report(id: string, state: string, line: () => string | null): void {
    const known = shown.get(id);
    shown.set(id, state);
    if (known === state || first) return;
    const text = line();
    if (text !== null) following.say(text);
  }

  void (async () => {
    while (!stopped.aborted) {
      await look().catch(() => {}); // a server that is away is reported elsewhere
      await sleep(PAUSE_MS, undefined, { signal: stopped }).catch(() => {});
    }
  })();
  return { runs: (wanted) => runs.filter(({ status }) => status === wanted), look };
}

export const issueOf = (run: Run): string => String(run.contextSnapshot?.issueId ?? "");

function runLine({ agents, pageOf }: Following, run: Run, issue: Issue | undefined): string {
  const who = agents.find(({ id }) => id === run.agentId)?.name ?? "somebody";
  const line = `${who}${issue === undefined ? "" : ` on ${issue.identifier}`}: ${run.status}`;
  if (run.status === "running") return `${line}  ${pageOf(run)}`;
  if (run.status === "scheduled_retry")
    return `${line}: the host goes on by itself${run.scheduledRetryAt ? ` at ${run.scheduledRetryAt.slice(11, 19)} UTC` : ""}`;
  if (run.status === "queued") return line;
  return `${line}${cause(run)}${cost(run)}  ${pageOf(run)}`;
}

const cause = ({ error, errorCode }: Run): string =>
  error === null ? "" : ` (${errorCode ?? "?"}): ${error.split("\n")[0]!.slice(0, 160)}`;

function cost({ usageJson }: Run): string {
  const usd = usageJson?.costUsd;
  return typeof usd === "number" ? `, ${String(usageJson?.outputTokens)} tokens out, $${usd.toFixed(4)}` : "";
}

/** Changes that the line of its run shows already are left out. */
const issueLine = ({ identifier, status }: Issue): string | null =>
  ["done", "blocked", "in_review"].includes(status) ? `${identifier} is ${status}` : null;
