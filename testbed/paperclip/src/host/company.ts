import { call, type HostAddress } from "./api.ts";

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly adapterType: string;
  readonly adapterConfig: Readonly<Record<string, unknown>>;
}

export interface Issue {
  readonly id: string;
  readonly identifier: string;
  readonly status: string;
  /** Set while the host waits for a statement about a run (2026.916). */
  readonly executionBlocker?: { readonly recoveryActionId: string; readonly runId: string; readonly cause: string } | null;
}

export interface Run {
  readonly id: string;
  readonly agentId: string;
  readonly status: string;
  readonly error: string | null;
  readonly errorCode: string | null;
  readonly retryOfRunId: string | null;
  readonly sessionIdAfter: string | null;
  readonly usageJson: Readonly<Record<string, unknown>> | null;
  readonly resultJson: Readonly<Record<string, unknown>> | null;
  readonly contextSnapshot: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly scheduledRetryAt?: string | null;
}

export interface RunEvent {
  readonly seq: number;
  readonly eventType: string;
  readonly message: string | null;
  readonly payload: Readonly<Record<string, unknown>> | null;
}

export interface RecoveryAction {
  readonly id: string;
  readonly cause: string;
  readonly status: string;
}

export interface Comment {
  readonly body: string;
  readonly authorAgentId: string | null;
  readonly createdByRunId?: string | null;
}

/** What became of a stopped run, in the words the host takes from its board. */
export interface Reconciliation {
  readonly actionId: string;
  readonly runId: string;
  readonly actionOutcome: "completed" | "not_performed" | "mixed";
  readonly evidence: string;
}

/** One company on a host, seen by its owner. */
export class Company {
  readonly #host: HostAddress;
  readonly id: string;

  constructor(host: HostAddress, id: string) {
    this.#host = host;
    this.id = id;
  }

  static async create(host: HostAddress, name: string): Promise<Company> {
    const { id } = await call<{ id: string }>(host, "POST", "/companies", { name });
    return new Company(host, id);
  }

  /** The company of that name; a new one unless there is one from an earlier start. */
  static async open(host: HostAddress, name: string): Promise<Company> {
    const found = (await call<{ id: string; name: string }[]>(host, "GET", "/companies")).find((company) => company.name === name);
    return found === undefined ? Company.create(host, name) : new Company(host, found.id);
  }

  about = (): Promise<{ issuePrefix: string }> => this.#call("GET", `/companies/${this.id}`);
  agents = (): Promise<Agent[]> => this.#call("GET", `/companies/${this.id}/agents`);

  /** An agent that runs only when somebody or something wakes it. */
  hire(name: string, adapterType: string, adapterConfig: Readonly<Record<string, unknown>>): Promise<Agent> {
    const runtimeConfig = { heartbeat: { enabled: false } };
    return this.#call("POST", `/companies/${this.id}/agents`, { name, role: "engineer", adapterType, adapterConfig, runtimeConfig });
  }

  configure(agentId: string, adapterConfig: Readonly<Record<string, unknown>>): Promise<Agent> {
    return this.#call("PATCH", `/agents/${agentId}`, { adapterConfig });
  }

  /** With these settings and no others. */
  reconfigure(agentId: string, adapterConfig: Readonly<Record<string, unknown>>): Promise<Agent> {
    return this.#call("PATCH", `/agents/${agentId}`, { adapterConfig, replaceAdapterConfig: true });
  }

  agent = (id: string): Promise<Agent> => this.#call("GET", `/agents/${id}`);

  pause = (agentId: string): Promise<Agent> => this.#call("POST", `/agents/${agentId}/pause`);
  resume = (agentId: string): Promise<Agent> => this.#call("POST", `/agents/${agentId}/resume`);

  /** An assigned issue wakes its agent by itself. */
  assign(agentId: string, title: string, description: string): Promise<Issue> {
    return this.#call("POST", `/companies/${this.id}/issues`, { title, description, status: "todo", assigneeAgentId: agentId });
  }

  issues = (): Promise<Issue[]> => this.#call("GET", `/companies/${this.id}/issues`);
  issuesOf = (agentId: string): Promise<Issue[]> => this.#call("GET", `/companies/${this.id}/issues?assigneeAgentId=${agentId}`);
  issue = (id: string): Promise<Issue> => this.#call("GET", `/issues/${id}`);
  update = (id: string, change: Readonly<Record<string, unknown>>): Promise<Issue> => this.#call("PATCH", `/issues/${id}`, change);
  comment = (id: string, body: string): Promise<unknown> => this.#call("POST", `/issues/${id}/comments`, { body });

  comments = (id: string): Promise<Comment[]> => this.#call("GET", `/issues/${id}/comments`);

  wake(agentId: string, issueId?: string): Promise<{ id?: string; status: string; reason?: string }> {
    const payload = issueId === undefined ? {} : { payload: { issueId } };
    return this.#call("POST", `/agents/${agentId}/wakeup`, { source: "on_demand", reason: "manual", ...payload });
  }

  /** Newest first, as the host lists them. */
  runs = (agentId: string): Promise<Run[]> => this.#call("GET", `/companies/${this.id}/heartbeat-runs?agentId=${agentId}&limit=50`);
  /** Of all agents. */
  allRuns = (): Promise<Run[]> => this.#call("GET", `/companies/${this.id}/heartbeat-runs?limit=50`);
  run = (id: string): Promise<Run> => this.#call("GET", `/heartbeat-runs/${id}`);
  cancel = (runId: string): Promise<Run> => this.#call("POST", `/heartbeat-runs/${runId}/cancel`);
  events = (runId: string): Promise<RunEvent[]> => this.#call("GET", `/heartbeat-runs/${runId}/events?afterSeq=0`);

  /** What the run page is built from: one entry for each piece of output. */
  async log(runId: string): Promise<{ stream: string; chunk: string }[]> {
    const { content } = await this.#call<{ content: string }>("GET", `/heartbeat-runs/${runId}/log?offset=0&limitBytes=1048576`);
    return content
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { stream: string; chunk: string });
  }

  costs = (): Promise<{ spendCents: number }> => this.#call("GET", `/companies/${this.id}/costs/summary`);
  costsByAgent = (): Promise<Record<string, unknown>[]> => this.#call("GET", `/companies/${this.id}/costs/by-agent`);
  issueCosts = (issueId: string): Promise<Record<string, unknown>> => this.#call("GET", `/issues/${issueId}/cost-summary`);
  sessions = (agentId: string): Promise<Record<string, unknown>[]> => this.#call("GET", `/agents/${agentId}/task-sessions`);
  recoveryActions = (issueId: string): Promise<{ active: RecoveryAction | null; actions: RecoveryAction[] }> =>
    this.#call("GET", `/issues/${issueId}/recovery-actions`);

  /** Lifts a hold: states what became of the stopped run (2026.916). */
  reconcile(issueId: string, { actionId, runId, actionOutcome, evidence }: Reconciliation): Promise<unknown> {
    return this.#call("POST", `/issues/${issueId}/recovery-actions/resolve`, {
      actionId,
      outcome: "restored",
      sourceIssueStatus: "todo",
      executionReconciliation: { runId, providerStopped: true, actionOutcome, outcomeEvidence: evidence },
    });
  }

  #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return call<T>(this.#host, method, path, body);
  }
}
