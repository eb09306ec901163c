import type { Run } from "../host/company.ts";
import type { Observed } from "./observe.ts";

const COLUMNS = [
  "how the run ended",
  "run",
  "message on the run's page",
  "comment on the issue's page",
  "issue after a sweep",
  "what came by itself",
  "the way out",
];
const HEAD = [`| ${COLUMNS.join(" | ")} |`, `|${"---|".repeat(COLUMNS.length)}`];

/** What was observed, one row for each end. */
export function outcomesTable(rows: readonly (Observed | Error)[]): string {
  const lines = rows.map((row) =>
    row instanceof Error ? `| not observed: ${cell(row.message)} |${" |".repeat(COLUMNS.length - 1)}` : line(row),
  );
  return [...HEAD, ...lines].join("\n");
}

/** A page with the rows of the table under a release's heading; rows of ends that the table does not have stay, in the order of `names`. */
export function withTable(page: string, version: string, table: string, names: readonly string[]): string {
  const heading = `## Paperclip ${version}\n`;
  const from = page.indexOf(heading);
  if (from < 0) throw new Error(`the page has no heading "${heading.trim()}"`);
  const next = page.indexOf("\n## ", from);
  const rows = new Map([...rowsOf(page.slice(from, next < 0 ? undefined : next)), ...rowsOf(table)]);
  const known = names.flatMap((name) =>
    [...rows].filter(([first]) => first === name || first.startsWith(`${name} (`)).map(([, row]) => row),
  );
  const today = new Date().toISOString().slice(0, 10);
  const section = `${heading}\nLast observed on ${today}.\n\n${[...HEAD, ...known].join("\n")}\n`;
  return page.slice(0, from) + section + (next < 0 ? "" : page.slice(next));
}

/** The rows of a table with these columns, by their first cell. */
function rowsOf(text: string): [string, string][] {
  const all = text.split("\n");
  const from = all.indexOf(HEAD[0] ?? "");
  if (from < 0) return [];
  const rows = all.slice(from + 2).filter((row) => row.startsWith("| "));
  return rows.map((row) => [row.slice(2, row.indexOf(" | ")), row]);
}

function line(seen: Observed): string {
  const { ending, run, issue, recovery, laterRuns, comments, complaint } = seen;
  const hold = issue.executionBlocker ? `held: \`${issue.executionBlocker.cause}\`` : recovery === null ? null : `action: \`${recovery}\``;
  const cells = [
    ending.name + (complaint === null ? "" : ` (${complaint})`),
    [run.status, ...codesOf(run)].join(", "),
    run.error ?? "–",
    comments.length === 0 ? "–" : comments.join(" / "),
    [issue.status, hold].filter((part) => part !== null).join(", "),
    laterRuns.length === 0 ? "nothing" : laterRuns.map((later) => laterRun(run, later)).join("; "),
    wayOutOf(seen),
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

/** The host's code, and our own where that is another. */
function codesOf({ errorCode, resultJson }: Run): string[] {
  const cause = resultJson?.cause;
  return [...new Set([errorCode, typeof cause === "string" ? cause : null])].filter((code) => code !== null).map((code) => `\`${code}\``);
}

function laterRun(run: Run, later: Run): string {
  const due = later.status === "scheduled_retry" && later.scheduledRetryAt ? ` in ${secondsAfter(run, later.scheduledRetryAt)} s` : "";
  const codes = codesOf(later).map((code) => ` ${code}`);
  return `${later.contextSnapshot?.wakeReason ?? "?"}${later.retryOfRunId === run.id ? " (retry of it)" : ""}: ${later.status}${due}${codes.join("")}`;
}

/** What was done on the issue's page, and what it started. */
function wayOutOf({ ending: { expected, fix }, nextRun }: Observed): string {
  if (expected === null) return "–";
  if (expected.wayOutBy === null) return "none needed";
  const done = `${fix === undefined ? "" : "corrected, then "}${expected.wayOutBy === "todo" ? "set to todo" : "a comment"}`;
  return `${done}: ${nextRun === null ? "**nothing started**" : `a run started (${nextRun.contextSnapshot?.wakeReason ?? "?"})`}`;
}

function secondsAfter(run: Run, time: string): number {
  return Math.round((Date.parse(time) - Date.parse(run.createdAt)) / 1000);
}

/** One line without the ids in a Job's name. */
function cell(text: string): string {
  const line = text.replaceAll(/\b(agent-[a-z]+-)[0-9a-f-]{12,}/g, "$1…").replaceAll(/\s+/g, " ");
  return line.replaceAll("|", "\\|").slice(0, 500);
}
