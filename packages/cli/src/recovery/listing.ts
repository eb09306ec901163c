import { count, table, WIDTH, wrap } from "../table.ts";
import type { Search } from "./candidates.ts";
import type { RecoveryDecision } from "./decision.ts";
import { endedAs } from "./run-record.ts";

/** Where was looked; null = only at the issues that somebody named. */
export interface Looked {
  readonly search: Pick<Search, "companies" | "openIssues" | "unaudited"> | null;
  readonly namespaces: readonly string[];
  /** Held issues that their agents have finished: nothing waits for them. */
  readonly finished: readonly string[];
}

/** What is held or waits, what happens to it now, and how much was looked at. */
export function listing(decisions: readonly RecoveryDecision[], looked: Looked): string[] {
  const columns = [{ title: "ISSUE", max: 12 }, { title: "RUN" }, { title: "ENDED AS", max: 28 }, { title: "STATE" }];
  const rows = decisions.map(({ issue, summary }) => {
    const ended = issue.run === null ? (issue.kind === "waiting" ? issue.action.cause : "-") : endedAs(issue.run);
    return [issue.identifier, issue.run?.id.slice(0, 8) ?? "-", ended, summary];
  });
  if (rows.length === 0) return looked.search === null ? [] : totals(decisions, looked);
  return [...table(columns, rows), ...totals(decisions, looked)];
}

function totals(decisions: readonly RecoveryDecision[], { search, namespaces, finished }: Looked): string[] {
  const held = decisions.filter(({ issue }) => issue.kind === "held").length;
  const waiting = decisions.length - held;
  const ready = decisions.filter(({ act }) => act === "release").length;
  const where = search === null ? "" : ` of ${count(search.openIssues, "open issue")} in ${countOf(search.companies.length)}`;
  const first =
    held === 0
      ? search === null
        ? []
        : [`none${where} is held`]
      : [`${count(held, "issue")} held, ${ready} to be released${where && `,${where}`}`];
  const others = waiting === 0 ? [] : [`${count(waiting, "issue")} ${waiting === 1 ? "waits" : "wait"} for somebody`];
  const jobs = `Jobs looked for in ${namespaces.length === 1 ? "namespace" : "namespaces"} ${namespaces.join(", ")}`;
  return [...wrap([...first, ...others, jobs].join("; "), WIDTH), ...unseen(search), ...finishedOnes(finished)];
}

const countOf = (companies: number): string => `${companies} ${companies === 1 ? "company" : "companies"}`;

const unseen = (search: Looked["search"]): string[] =>
  search === null || search.unaudited === 0
    ? []
    : [
        `this key may not read the audit log of ${countOf(search.unaudited)} (permission audit:view_agent_actions):`,
        "instead every blocked issue was looked at, and every open one whose last run did not succeed",
      ];

const finishedOnes = (finished: readonly string[]): string[] =>
  finished.length === 0
    ? []
    : [`finished, but held if somebody reopens them: ${finished.slice(0, 10).join(", ")}${finished.length > 10 ? ", …" : ""}`];
