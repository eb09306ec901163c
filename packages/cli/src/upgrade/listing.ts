import type { SettingFinding } from "@paperclip-k8s/paperclip/upgrade";
import { count, WIDTH, wrap } from "../table.ts";
import { type AgentReport, isRefused, type UpgradeReport } from "./report.ts";

/** The report as text: each agent with what concerns it alone, then once what is the same for all. */
export function upgradeListing(report: UpgradeReport): string[] {
  return [...head(report), ...report.agents.flatMap(agentLines), ...forAll(report), ...clusterLines(report), ...summary(report)];
}

function head({ server, agents, companies, otherAgents, policy }: UpgradeReport): string[] {
  const where = `${companies} ${companies === 1 ? "company" : "companies"}`;
  const others =
    otherAgents === 0 ? "" : `; ${count(otherAgents, "agent")} of other adapters ${otherAgents === 1 ? "is" : "are"} not concerned`;
  const against = policy ?? "the built-in policy (--policy <file>: against yours)";
  return [
    ...wrap(`${server}: ${count(agents.length, "agent")} of these adapters in ${where}${others}`, WIDTH),
    ...wrap(`checked against ${against}`, WIDTH),
  ];
}

const KIND = 8;
const SUBJECT = 24;
const INDENT = 2 + KIND + 1 + SUBJECT + 1;

/** What it is, what it is about, and below it what to do. */
function row(kind: string, subject: string, text: string, todo: string | null): string[] {
  const [first = "", ...more] = [...wrap(text, WIDTH - INDENT), ...(todo === null ? [] : wrap(`-> ${todo}`, WIDTH - INDENT))];
  const start = `  ${kind.padEnd(KIND)} ${subject.padEnd(SUBJECT)} `;
  const lines = start.length > INDENT ? [start.trimEnd(), `${" ".repeat(INDENT)}${first}`] : [`${start}${first}`];
  return [...lines, ...more.map((line) => `${" ".repeat(INDENT)}${line}`)];
}

const settingRow = ({ kind, setting, text, todo }: SettingFinding): string[] =>
  row(kind === "refused" ? "REFUSED" : kind, setting, text, todo);

function agentLines(agent: AgentReport): string[] {
  const { id, name, company, type, unreadable, findings, moreFindings, jobs, claims } = agent;
  const lines = [
    ...(unreadable === null ? [] : row("UNKNOWN", "settings", `could not be read: ${unreadable}`, "use a key that may read them")),
    ...findings.filter(({ isDefault }) => !isDefault).flatMap(settingRow),
    ...(moreFindings === 0 ? [] : row("", "", `${count(moreFindings, "more setting")} of this kind`, null)),
    ...jobs.flatMap((job) =>
      row("waits", "Job", `${job} of an earlier adapter is live: the next run waits for it and leaves it alone`, "let it finish"),
    ),
    ...claims.flatMap((claim) => claimRow(claim)),
    ...sessionRow(agent),
  ];
  return ["", ...wrap(`${name} (${type}, ${company}, ${id})`, WIDTH), ...(lines.length === 0 ? ["  nothing to do"] : lines)];
}

function claimRow({ name, use }: AgentReport["claims"][number]): string[] {
  if (use === "all") return row("kept", "claim", `${name} is used as before`, null);
  const keep = "set agentDbMode to dedicated_pvc to go on with it";
  if (use === "stored-sessions")
    return row("changed", "claim", `${name}: sessions on it go on, new ones are kept on the shared volume`, `${keep} for all`);
  return row("changed", "claim", `${name} holds sessions of this agent and is no longer used`, keep);
}

function sessionRow({ sessions }: AgentReport): string[] {
  if (sessions.unreadable !== null) return row("UNKNOWN", "sessions", `could not be read: ${sessions.unreadable}`, null);
  if (sessions.count === 0) return [];
  const each =
    sessions.count === 1 ? "1 stored session: the task's next run looks" : `${sessions.count} stored sessions: each task's next run looks`;
  const change = "change this agent's settings between tasks, or the policy instead: after a change Paperclip begins a new session";
  return row("kept", "sessions", `${each} for its files on the volume, which cannot be seen from here`, change);
}

/** Defaults that have changed concern every agent that does not set them. */
function forAll({ agents }: UpgradeReport): string[] {
  const found = new Map<string, { finding: SettingFinding; agents: Set<string> }>();
  for (const agent of agents)
    for (const finding of agent.findings.filter(({ isDefault }) => isDefault)) {
      const key = `${finding.setting} ${finding.text}`;
      const known = found.get(key) ?? { finding, agents: new Set() };
      found.set(key, { ...known, agents: known.agents.add(agent.id) });
    }
  if (found.size === 0) return [];
  const lines = [...found.values()].flatMap(({ finding, agents: whose }) =>
    row(
      finding.kind,
      finding.setting,
      `${finding.text} (${whose.size === agents.length ? "every agent" : count(whose.size, "agent")})`,
      finding.todo,
    ),
  );
  return ["", "Not set, and another default now:", ...lines];
}

function clusterLines({ cluster: { namespaces, otherJobs, unseen } }: UpgradeReport): string[] {
  const others = otherJobs.map((job) => `live Job of an earlier adapter, of an agent that is not listed here: ${job}`);
  const looked = namespaces.length === 0 ? [] : [`Jobs and claims were looked for in ${namespaces.join(", ")}`];
  const lines = [...others, ...looked, ...unseen].flatMap((line) => wrap(line, WIDTH));
  return lines.length === 0 ? [] : ["", ...lines];
}

function summary({ agents, serverNamespace }: UpgradeReport): string[] {
  const named = (some: readonly AgentReport[]) =>
    `${some
      .slice(0, 10)
      .map(({ name }) => name)
      .join(", ")}${some.length > 10 ? ", …" : ""}`;
  const [refused, unread] = [agents.filter(isRefused), agents.filter(({ unreadable }) => unreadable !== null)];
  const isAsked = serverNamespace === null && refused.some(({ findings }) => findings.some(({ setting }) => setting === "namespace"));
  const lines = [
    agents.length === 0 ? "no agent uses these adapters" : null,
    refused.length > 0 ? `runs of ${count(refused.length, "agent")} would be refused: ${named(refused)}` : null,
    unread.length > 0 ? `${count(unread.length, "agent")} could not be checked: ${named(unread)}` : null,
    agents.length > 0 && refused.length + unread.length === 0 ? "no agent's runs would be refused" : null,
    isAsked ? "--server-namespace <name> says which namespace is the server's own" : null,
    "what no setting shows is in docs/upgrade.md: environment, home folder, volume, permissions, results",
  ];
  return ["", ...lines.filter((line) => line !== null).flatMap((line) => wrap(line, WIDTH))];
}
