import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, Issue, Run } from "../../host/company.ts";
import type { AnyStage } from "../../stage.ts";

const PAUSE_MS = 1000;
/** So many questions without an answer are worth a line. */
const UNANSWERED = 10;

export interface Followed {
  /** Runs that the host had in this state when it last answered. */
  runs(status: "queued" | "running" | "scheduled_retry"): readonly Run[];
  /** Asks the host now. */
  look(): Promise<void>;
}

interface Following {
  readonly stage: AnyStage;
  readonly pageOf: (run: Run) => string;
  readonly say: (line: string) => void;
  /** Nobody hears when the server ends, so its silence is reported. */
  readonly reportSilence: boolean;
  readonly stopped: AbortSignal;
}

/** Reports each change of a run and of an issue's status, as long as the host answers; what was over before is not news. */
export function followRuns(following: Following): Followed {
  const { stage, say, stopped } = following;
  const shown = new Map<string, string>();
  let runs: readonly Run[] = [];
  let agents: readonly Agent[] = [];
  let first = true;

  async function look(): Promise<void> {
    const issues = new Map((await stage.company.issues()).map((issue) => [issue.id, issue]));
    runs = await stage.company.allRuns();
    const isNew = (run: Run) => !agents.some(({ id }) => id === run.agentId);
    if (runs.some(isNew)) agents = await stage.company.agents(); // also those that a visitor has made
    const nameOf = (run: Run) => agents.find(({ id }) => id === run.agentId)?.name ?? "an agent that is gone";
    for (const run of [...runs].reverse())
      await report(run.id, run.status, () => runLine(following, run, nameOf(run), issues.get(issueOf(run))));
    for (const issue of issues.values()) await report(issue.id, issue.status, async () => issueLine(issue));
    first = false;
  }

  async function report(id: string, state: string, line: () => Promise<string | null>): Promise<void> {
    const known = shown.get(id);
    shown.set(id, state);
    if (known === state || first) return;
    const text = await line();
    if (text !== null) say(text);
  }

  void (async () => {
    let unanswered = 0;
    while (!stopped.aborted) {
      const answered = await look().then(
        () => true,
        () => false,
      );
      if (answered && unanswered >= UNANSWERED) say("Paperclip answers again");
      unanswered = answered || !following.reportSilence ? 0 : unanswered + 1;
      if (unanswered === UNANSWERED) say("Paperclip does not answer");
      await sleep(PAUSE_MS, undefined, { signal: stopped }).catch(() => {});
    }
  })();
  return { runs: (wanted) => runs.filter(({ status }) => status === wanted), look };
}

export const issueOf = (run: Run): string => String(run.contextSnapshot?.issueId ?? "");

async function runLine({ pageOf, stage }: Following, run: Run, who: string, issue: Issue | undefined): Promise<string> {
  const line = `${who}${issue === undefined ? "" : ` on ${issue.identifier}`}: ${run.status}`;
  if (run.status === "running") return `${line}  ${pageOf(run)}`;
  if (run.status === "scheduled_retry")
    return `${line}: the host goes on by itself${run.scheduledRetryAt ? ` at ${run.scheduledRetryAt.slice(11, 19)} UTC` : ""}`;
  if (run.status === "queued") return line;
  const whole = await stage.company.run(run.id).catch(() => run); // in lists the result is cut
  return `${line}${place(whole)}${cause(run)}${cost(run)}  ${pageOf(run)}`;
}

const cause = ({ error, errorCode }: Run): string => (error === null ? "" : ` (${errorCode ?? "?"}): ${cut(error.split("\n")[0]!)}`);

const cut = (text: string): string => (text.length <= 160 ? text : `${text.slice(0, text.lastIndexOf(" ", 160))} …`);

function cost({ usageJson }: Run): string {
  const { costUsd, outputTokens } = usageJson ?? {};
  const tokens = typeof outputTokens === "number" ? `, ${outputTokens} tokens out` : "";
  return typeof costUsd === "number" && (costUsd > 0 || tokens !== "") ? `${tokens}, $${costUsd.toFixed(4)}` : tokens;
}

/** A run of the host's own adapter has no Job. */
function place({ resultJson, status }: Run): string {
  if (typeof resultJson?.job === "string") return " as a Job";
  return status === "succeeded" ? " inside the server" : "";
}

/** Changes that the line of its run shows already are left out. */
const issueLine = ({ identifier, status }: Issue): string | null =>
  ["done", "blocked", "in_review"].includes(status) ? `${identifier} is ${status}` : null;
