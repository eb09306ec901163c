import type { Row } from "./continue-on-pages.ts";

/** What was seen, as a table for people. */
export function pagesTable(rows: readonly Row[]): string {
  const head =
    "| end | host | run | words on the run page | words on the issue page | what somebody did | the run that followed |\n|---|---|---|---|---|---|---|";
  const sorted = rows.toSorted((a, b) => a.end.localeCompare(b.end) || b.version.localeCompare(a.version));
  return `${[head, ...sorted.map(lineOf)].join("\n")}\n`;
}

function lineOf({ end, version, run, runPage, issuePage, click, next }: Row): string {
  const cells = [
    end,
    version,
    `${run.status} ${run.errorCode ?? ""}`,
    errorOf(runPage, run.error),
    threadOf(issuePage),
    click,
    `${next.contextSnapshot?.wakeReason}: ${next.status} ${next.errorCode ?? ""}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").trim().slice(0, 500)).join(" | ")} |`;
}

/** The line that has the run's error, as the page shows it. */
function errorOf(page: string, error: string | null): string {
  const start = error?.split("\n")[0]?.slice(0, 40) ?? "";
  return (start && page.split("\n").find((line) => line.includes(start))) || "(nothing about an error)";
}

/** Lines that the host shows on every issue's page. */
const EVERYWHERE =
  /^(.{0,2}|No project|New Sub-task|Auto mode|Agent mode|Agent( \d+)?|Unassigned|case-\d+|\w+-\d+|Message .*|\d+:\d\d [AP]M|(· )?(just now|\d+m ago)|Board|Live)$/;

const threadOf = (page: string): string =>
  page
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => !EVERYWHERE.test(line))
    .join(" / ");
