import type { AgentCli } from "@paperclip-k8s/paperclip";
import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { type Context, isRecord, recordOf, textOf } from "@paperclip-k8s/paperclip/values";
import { cliOfType } from "../../../agent-clis.ts";
import { aFewAtOnce } from "../recovery/find/a-few-at-once.ts";

const AT_ONCE = 4;

/** An agent of one of our adapter types, as the host shows it. */
export interface FoundAgent {
  readonly id: string;
  readonly name: string;
  readonly company: string;
  readonly cli: AgentCli;
  /** Null = they could not be read: `unreadable` says why. */
  readonly settings: Context | null;
  readonly unreadable: string | null;
  readonly sessions: StoredSessions;
}

/** Sessions that the host will hand to the agent's next runs. */
export interface StoredSessions {
  readonly count: number;
  /** Why they could not be counted; null = they were. */
  readonly unreadable: string | null;
}

export interface FoundAgents {
  readonly agents: readonly FoundAgent[];
  readonly companies: number;
  /** Agents of other adapter types. */
  readonly others: number;
}

interface Company {
  readonly id: string;
  readonly name: string;
}

/** Every agent of our adapter types, whether its settings can be read or not. Throws where the host's lists cannot be read. */
export async function findAgents(host: HostApi, wanted: string | null): Promise<FoundAgents> {
  const companies = chosen(await companiesOf(host), wanted);
  const lists = await aFewAtOnce(companies, AT_ONCE, (company) => agentsOf(host, company));
  const listed = lists.flat();
  const clis = await Promise.all(listed.map(({ row }) => cliOfType(textOf(row.adapterType))));
  const ours = listed.flatMap((one, at) => (clis[at] ? [{ ...one, cli: clis[at] }] : []));
  const agents = await aFewAtOnce(ours, AT_ONCE, (one) => readAgent(host, one));
  return { agents, companies: companies.length, others: listed.length - ours.length };
}

async function companiesOf(host: HostApi): Promise<Company[]> {
  const rows = listOf(await host.get("/companies"), "/companies");
  return rows.map(({ id, name }) => ({ id: String(id), name: textOf(name) ?? String(id) }));
}

/** By id or by name. One that nobody finds is a mistake, not a company without agents. */
function chosen(companies: readonly Company[], wanted: string | null): readonly Company[] {
  if (wanted === null) return companies;
  const found = companies.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase());
  if (found.length > 0) return found;
  const known =
    companies.length === 0 ? "it shows none to this key" : `it has ${companies.map(({ name, id }) => `${name} (${id})`).join(", ")}`;
  throw new HostError(`--company: the server shows no company "${wanted}"; ${known}`, null);
}

interface Listed {
  readonly company: Company;
  readonly row: Context;
}

async function agentsOf(host: HostApi, company: Company): Promise<Listed[]> {
  const path = `/companies/${encodeURIComponent(company.id)}/agents`;
  return listOf(await host.get(path), path).map((row) => ({ company, row }));
}

/** Anything but a list of records with an id is no answer. */
function listOf(answer: unknown, path: string): Context[] {
  if (Array.isArray(answer) && answer.every((row) => isRecord(row) && textOf(row.id) !== null)) return answer as Context[];
  throw new HostError(`GET /api${path}: the answer is not a list; is this a Paperclip server?`, null);
}

async function readAgent(host: HostApi, { company, row, cli }: Listed & { readonly cli: AgentCli }): Promise<FoundAgent> {
  const id = String(row.id);
  const read = await settingsOf(host, id, row.adapterConfig);
  return { id, name: textOf(row.name) ?? id, company: company.name, cli, ...read, sessions: await sessionsOf(host, id, cli.type) };
}

/** Who may not read settings is shown empty ones in the list, so an empty one is asked for by itself. */
async function settingsOf(host: HostApi, id: string, listed: unknown): Promise<Pick<FoundAgent, "settings" | "unreadable">> {
  if (isRecord(listed) && Object.keys(listed).length > 0) return { settings: listed, unreadable: null };
  try {
    const { adapterConfig } = recordOf(await host.get(`/agents/${encodeURIComponent(id)}/configuration`));
    if (isRecord(adapterConfig)) return { settings: adapterConfig, unreadable: null };
    return { settings: null, unreadable: "the server shows none" };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { settings: null, unreadable: error.message };
  }
}

async function sessionsOf(host: HostApi, id: string, type: string): Promise<StoredSessions> {
  const path = `/agents/${encodeURIComponent(id)}/task-sessions`;
  try {
    const rows = await host.get(path);
    if (!Array.isArray(rows)) return { count: 0, unreadable: `GET /api${path}: the answer is not a list` };
    const isKept = (row: Context) => isRecord(row.sessionParamsJson) && (textOf(row.adapterType) ?? type) === type;
    return { count: rows.filter((row) => isKept(recordOf(row))).length, unreadable: null };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { count: 0, unreadable: error.message };
  }
}
