import { count, table, WIDTH, wrap } from "../table.ts";
import type { RecoveryDecision } from "./decision.ts";
import type { SearchResult } from "./find/candidates.ts";
import { endedAs } from "./find/run-record.ts";

/** Where `recover` looked. */
export interface Looked {
  /** Null = only at the issues that somebody named. */
  readonly search: Pick<SearchResult, "companies" | "openIssues" | "unaudited" | "partlyAudited"> | null;
  readonly namespaces: readonly string[];
  /** Held issues that their agents have finished: nothing waits for them. */
  readonly finished: readonly string[];
}

/** What is held or waits, what happens to it now, and how much was looked at. */
export function listing(decisions: readonly RecoveryDecision[], looked: Looked): string[] {
  const columns = [{ title: "ISSUE", max: 12 }, { title: "RUN" }, { title: "ENDED AS", max: 28 }, { title: "STATE" }];
  const rows = decisions.map(({ issue, summary }) => {
    const cause = issue.kind === "waiting" ? issue.action.cause : issue.cause;
    const ended = issue.run === null ? cause : endedAs(issue.run);
    return [issue.identifier, issue.run?.id.slice(0, 8) ?? "-", ended, summary];
  });
  if (rows.length === 0) return looked.search === null ? [] : totals(decisions, looked);
  return [...table(columns, rows), ...totals(decisions, looked)];
}

function totals(decisions: readonly RecoveryDecision[], { search, namespaces, finished }: Looked): string[] {
  const held = decisions.filter(({ issue }) => issue.kind === "held").length;
  const waiting = decisions.length - held;
  const ready = decisions.filter(({ act }) => act === "release").length;
  const first = search === null && held === 0 ? [] : [heldOnes(held, ready, search)];
  const others = waiting === 0 ? [] : [`${count(waiting, "issue")} ${waiting === 1 ? "waits" : "wait"} for somebody`];
  const jobs = `Jobs looked for in ${namespaces.length === 1 ? "namespace" : "namespaces"} ${namespaces.join(", ")}`;
  return [...wrap([...first, ...others, jobs].join("; "), WIDTH), ...unseen(search), ...finishedOnes(finished)];
}

const countOf = (companies: number): string => `${companies} ${companies === 1 ? "company" : "companies"}`;

function heldOnes(held: number, ready: number, search: Looked["search"]): string {
  const where = search === null ? null : `${count(search.openIssues, "open issue")} in ${countOf(search.companies.length)}`;
  if (held === 0) return `no issue is held (${where} looked at)`;
  return `${count(held, "issue")} held, ${ready} to be released${where === null ? "" : `, of ${where}`}`;
}

const INSTEAD = "only blocked issues were looked at, and open ones whose last run did not succeed";

function unseen(search: Looked["search"]): string[] {
  if (search === null) return [];
  const { unaudited, partlyAudited } = search;
  const closed = `this key may not read the audit log of ${countOf(unaudited)} (permission audit:view_agent_actions): there ${INSTEAD}`;
  const long = `the audit log of ${countOf(partlyAudited)} is too long to be read as a whole: for older holds ${INSTEAD}`;
  return [...(unaudited === 0 ? [] : wrap(closed, WIDTH)), ...(partlyAudited === 0 ? [] : wrap(long, WIDTH))];
}

const finishedOnes = (finished: readonly string[]): string[] =>
  finished.length === 0
    ? []
    : [`finished, but held if somebody reopens them: ${finished.slice(0, 10).join(", ")}${finished.length > 10 ? ", …" : ""}`];
