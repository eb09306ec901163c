import { messageOf } from "@paperclip-k8s/engine";
import { cleanLine } from "@paperclip-k8s/paperclip/clean-text";
import type { InspectedPolicy } from "@paperclip-k8s/paperclip/policy";
import { checkSettings, chosenMode, type SettingFinding } from "@paperclip-k8s/paperclip/upgrade";
import { isRecord } from "@paperclip-k8s/paperclip/values";
import type { FoundAgent, FoundAgents, StoredSessions } from "./find-agents.ts";
import type { ClusterView } from "./look-at-cluster.ts";

/** What the agent's settings do with its claim: everything, only sessions that are on it already, or nothing. */
export type ClaimUse = "all" | "stored-sessions" | "none";

/** What the upgrade means for one agent. */
export interface AgentReport {
  readonly id: string;
  readonly name: string;
  readonly company: string;
  readonly type: string;
  /** Why its settings could not be checked; null = they were. */
  readonly unreadable: string | null;
  readonly findings: readonly SettingFinding[];
  /** How many more there are: an agent can write any number of settings. */
  readonly moreFindings: number;
  readonly sessions: StoredSessions;
  /** Live Jobs of an earlier adapter, for which its next run waits. */
  readonly jobs: readonly string[];
  /** Claims of its own. */
  readonly claims: readonly { readonly name: string; readonly use: ClaimUse }[];
}

export interface UpgradeReport {
  readonly server: string;
  readonly companies: number;
  readonly otherAgents: number;
  /** Path of the policy's file; null = the built-in one. */
  readonly policy: string | null;
  /** Of the server's own pod; null = it is not known here. */
  readonly serverNamespace: string | null;
  readonly agents: readonly AgentReport[];
  readonly cluster: {
    readonly namespaces: readonly string[];
    /** Live Jobs of earlier adapters of which no agent is listed here. */
    readonly otherJobs: readonly string[];
    readonly unseen: readonly string[];
  };
}

interface Facts {
  readonly server: string;
  readonly found: FoundAgents;
  readonly cluster: ClusterView;
  readonly policy: NonNullable<InspectedPolicy["policy"]>;
  /** Null = it is not known here. */
  readonly serverNamespace: string | null;
}

const MOST_FINDINGS = 40;
const LONGEST = 1000;

export function upgradeReport({ server, found, cluster, policy, serverNamespace }: Facts): UpgradeReport {
  const ids = new Set(found.agents.map(({ id }) => id));
  const otherJobs = cluster.jobs.filter(({ agentId }) => agentId === null || !ids.has(agentId)).map(({ name }) => name);
  return {
    server,
    companies: found.companies,
    otherAgents: found.others,
    policy: policy.source,
    serverNamespace,
    agents: found.agents.map((agent) => agentReport(agent, cluster, policy, serverNamespace)),
    cluster: { namespaces: cluster.namespaces, otherJobs, unseen: cluster.unseen },
  };
}

/** Some agent cannot run after the upgrade as it is, or nobody knows whether it can. */
export const needsWork = ({ agents }: UpgradeReport): boolean => agents.some((agent) => agent.unreadable !== null || isRefused(agent));

export const isRefused = ({ findings }: Pick<AgentReport, "findings">): boolean => findings.some(({ kind }) => kind === "refused");

function agentReport(agent: FoundAgent, cluster: ClusterView, policy: Facts["policy"], serverNamespace: string | null): AgentReport {
  const { id, name, company, cli, settings, sessions } = agent;
  const { findings, problem } = findingsOf(agent, policy, serverNamespace);
  const mode = isRecord(settings) ? chosenMode(settings) : undefined;
  return {
    id,
    name: cleanLine(name, 60),
    company: cleanLine(company, 60),
    type: cli.type,
    unreadable: problem,
    findings: findings.slice(0, MOST_FINDINGS).map(shortened),
    moreFindings: Math.max(0, findings.length - MOST_FINDINGS),
    sessions,
    jobs: cluster.jobs.filter(({ agentId }) => agentId === id).map((job) => job.name),
    claims: cluster.claims.filter(({ agentId }) => agentId === id).map((claim) => ({ name: claim.name, use: useOf(mode) })),
  };
}

function useOf(mode: ReturnType<typeof chosenMode>): ClaimUse {
  if (mode === "dedicated_pvc") return "all";
  return mode === undefined ? "stored-sessions" : "none";
}

interface Checked {
  readonly findings: readonly SettingFinding[];
  readonly problem: string | null;
}

/** One agent's settings must not keep the others from being checked. */
function findingsOf({ cli, settings, unreadable }: FoundAgent, policy: Facts["policy"], serverNamespace: string | null): Checked {
  if (settings === null) return { findings: [], problem: unreadable ?? "the server shows none" };
  try {
    const own = policy.defaults.namespace == null ? serverNamespace : null;
    const isOwn = ({ setting }: SettingFinding) => setting === "namespace" && own !== null && settings.namespace === own;
    return { findings: checkSettings(cli, settings, policy).filter((finding) => !isOwn(finding)), problem: null };
  } catch (error) {
    return { findings: [], problem: `they cannot be checked: ${messageOf(error)}` };
  }
}

const shortened = (finding: SettingFinding): SettingFinding => ({
  ...finding,
  setting: cleanLine(finding.setting, 60),
  text: cleanLine(finding.text, LONGEST),
  todo: cleanLine(finding.todo, LONGEST),
});
