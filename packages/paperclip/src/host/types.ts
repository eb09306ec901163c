// The part of the host's adapter contract that we use, as types of our own: published declarations then need no package of the host.
// `types.test.ts` proves that they fit the host's own types.

export interface HostRuntime {
  readonly sessionId: string | null;
  readonly sessionParams: Record<string, unknown> | null;
  readonly sessionDisplayId: string | null;
  readonly taskKey: string | null;
}

export interface InvocationMeta {
  adapterType: string;
  command: string;
  cwd?: string;
  commandArgs?: string[];
  commandNotes?: string[];
  env?: Record<string, string>;
  prompt?: string;
  promptMetrics?: Record<string, number>;
  context?: Record<string, unknown>;
}

export interface RuntimeEvent {
  eventType: string;
  stream?: "system";
  level?: "info" | "warn";
  message?: string;
}

/** A tool server of the host that a run may use. */
export interface RuntimeMcpServer {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly connectionId: string;
}

/** The host's connections, which an agent can search and ask for (2026.916 and later). */
export interface RuntimeTools {
  readonly guidance: string;
  readonly mcpEndpoint: string;
  readonly rest: { readonly connectionsSearch: string; readonly connectionRequest: string };
  readonly bearerToken: string;
  readonly expiresAt: string;
  readonly tools: readonly string[];
}

/** What the host hands to `execute`. */
export interface ExecutionContext {
  readonly runId: string;
  readonly agent: { readonly id: string; readonly companyId: string; readonly name: string; readonly role?: string };
  readonly runtime: HostRuntime;
  readonly config: Record<string, unknown>;
  readonly context: Record<string, unknown>;
  readonly onLog: (stream: "stdout" | "stderr", chunk: string) => Promise<void>;
  readonly onMeta?: (meta: InvocationMeta) => Promise<void>;
  /** A run event, kept by the host. */
  readonly onEvent?: (event: RuntimeEvent) => Promise<void>;
  /** What the run is doing right now; shown, not kept. */
  readonly onRuntimeProgress?: (update: { phase: "adapter_startup" | "finalize"; message: string }) => void | Promise<void>;
  readonly onDispatch?: () => void;
  /** Aborts on an operator's cancel (hosts of 2026.916 and later), if `onCancellationReady` was called. */
  readonly signal?: AbortSignal;
  readonly onCancellationReady?: () => Promise<void>;
  /** The run's own token for the host's API. */
  readonly authToken?: string;
  readonly runtimeMcp?: { getServers(): RuntimeMcpServer[] };
  readonly runtimeTools?: RuntimeTools;
  /** Where the host wants the run: on its own machine, or in a remote environment that the agent was given. */
  readonly executionTarget?: { readonly kind: string } | null;
  readonly executionTransport?: { readonly remoteExecution?: unknown } | null;
}

export interface UsageSummary {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number;
}

export type BillingType = "api" | "subscription" | "metered_api" | "unknown";

/** What the host takes from `execute`. */
export interface ExecutionResult {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  errorMessage?: string | null;
  errorCode?: string | null;
  errorFamily?: "transient_upstream" | "provider_quota" | "model_refusal" | null;
  retryNotBefore?: string | null;
  executionRecovery?:
    | { kind: "bootstrap"; providerWorkStarted: false }
    | { kind: "interrupted"; providerStopped: true; sessionPreserved: true; actionOutcomes: "settled" };
  usage?: UsageSummary;
  usageBasis?: "per_run" | null;
  sessionId?: string | null;
  sessionParams?: Record<string, unknown> | null;
  sessionDisplayId?: string | null;
  clearSession?: boolean;
  provider?: string | null;
  biller?: string | null;
  model?: string | null;
  billingType?: BillingType | null;
  costUsd?: number | null;
  summary?: string | null;
  resultJson?: Record<string, unknown> | null;
}

export interface SessionCodec {
  deserialize(raw: unknown): Record<string, unknown> | null;
  serialize(params: Record<string, unknown> | null): Record<string, unknown> | null;
  getDisplayId(params: Record<string, unknown> | null): string | null;
}

export interface EnvironmentCheck {
  code: string;
  level: "info" | "warn" | "error";
  message: string;
  detail?: string | null;
  hint?: string | null;
}

export interface EnvironmentTestResult {
  adapterType: string;
  status: "pass" | "warn" | "fail";
  checks: EnvironmentCheck[];
  testedAt: string;
}

export interface Model {
  id: string;
  label: string;
}

/** What the host may assume about long sessions. */
export interface SessionManagement {
  supportsSessionResume: boolean;
  nativeContextManagement: "confirmed" | "likely" | "unknown" | "none";
  defaultSessionCompaction: { enabled: boolean; maxSessionRuns: number; maxRawInputTokens: number; maxSessionAgeHours: number };
}

/** A field of the host's settings form. */
export interface FormField {
  key: string;
  label: string;
  type: "text" | "select" | "toggle" | "number" | "textarea" | "combobox";
  options?: { label: string; value: string }[];
  default?: unknown;
  hint?: string;
  meta?: Record<string, unknown>;
}

/** What the host hands to `listSkills` and `syncSkills`. */
export interface SkillContext {
  readonly adapterType: string;
  readonly config: Record<string, unknown>;
}

/** The host's snapshot of an agent's skills. */
export interface SkillSnapshot {
  adapterType: string;
  supported: boolean;
  mode: "unsupported" | "persistent" | "ephemeral";
  desiredSkills: string[];
  entries: {
    key: string;
    runtimeName: string | null;
    desired: boolean;
    managed: boolean;
    state: "available" | "configured" | "installed" | "missing" | "stale" | "external";
  }[];
  warnings: string[];
}

/** What the host hands to the form's "Test" button. */
export interface TestContext {
  readonly companyId: string;
  readonly adapterType: string;
  readonly config: Record<string, unknown>;
  readonly executionTarget?: { readonly kind: string } | null;
  readonly environmentName?: string | null;
}

/** How the host's page signs in to an account of this CLI's provider. The sign-in itself is the host's own code, in an environment of its own. */
export interface LoginCapability {
  panelMode: "displayed_code" | "submitted_browser_code";
  timeoutPolicy: "caller_bounded" | "fixed";
  completionClaim?: "storedSessionId";
  getCommand(): string;
  parsePrompt(output: string): { url: string } | null;
}

/** What `createServerAdapter()` returns. */
export interface ServerAdapter {
  type: string;
  execute(ctx: ExecutionContext): Promise<ExecutionResult>;
  testEnvironment(ctx: TestContext): Promise<EnvironmentTestResult>;
  sessionCodec: SessionCodec;
  /** Without it the host takes that of its own adapter of the same type. */
  sessionManagement?: SessionManagement;
  /** How a run gets the host's connections (2026.916 and later). */
  runtimeToolDelivery?: "native_mcp" | "environment" | "invocation_context";
  /** Without it the host's page has no sign-in for this type. */
  loginCapability?: LoginCapability;
  models: Model[];
  /** The static list and what the CLI itself reports. */
  listModels(): Promise<Model[]>;
  listSkills(ctx: SkillContext): Promise<SkillSnapshot>;
  syncSkills(ctx: SkillContext, desiredSkills: string[]): Promise<SkillSnapshot>;
  getConfigSchema(): Promise<{ fields: FormField[]; providedBy: string }>;
  agentConfigurationDoc: string;
  supportsLocalAgentJwt: boolean;
  supportsInstructionsBundle: boolean;
  instructionsPathKey: string;
  requiresMaterializedRuntimeSkills: boolean;
  /** Hosts that read it use a staleness window instead of looking for a local child process. */
  hasOutOfProcessLiveness: boolean;
}
