import type { FinalLine } from "@paperclip-k8s/engine";
import type { AgentConfig } from "./config.ts";
import type { Model, SessionManagement } from "./host.ts";
import type { Entry } from "./transcript/entry.ts";

/** What differs between two agent CLIs; one folder with one of these adds a CLI. */
export interface AgentCli {
  /** Adapter type at the host: `opencode_k8s`. */
  readonly type: string;
  readonly label: string;
  /** Name of the main container. */
  readonly container: string;
  readonly jobPrefix: string;
  readonly models: readonly Model[];
  /** The same with what the CLI itself reports, where it is at hand. */
  listModels(): Promise<Model[]>;
  readonly sessionManagement: SessionManagement;
  /** The last line that tells how the CLI ended, kept in the termination message. */
  readonly finalLine: FinalLine | null;
  /** Environment and arguments of one turn. */
  plan(turn: CliTurn): CliPlan;
  /** Who sends the bill, where the run's environment tells; null = the model's provider. */
  billerOf(env: Readonly<Record<string, string>>): string | null;
  /** What a line of the CLI's output means to a reader. */
  describe(line: string): readonly Entry[];
  /** A parser for one turn, fed as lines arrive. */
  createParser(): CliParser;
}

export interface CliTurn {
  readonly config: AgentConfig;
  /** The run's environment as far as it is known as values: inherited, then the agent's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly sessionId: string | null;
  /** Folder on the shared volume that outlives the run, for the CLI's sessions; null = nothing is kept. */
  readonly stateDir: string | null;
}

export interface CliPlan {
  readonly argv: readonly [string, ...string[]];
  /** May stand in the Job spec. */
  readonly plainEnv: Readonly<Record<string, string>>;
  readonly secretEnv: Readonly<Record<string, string>>;
  /** Remarks for the run's log. */
  readonly notes: readonly string[];
}

export interface CliParser {
  push(line: string): void;
  /** What is known so far; may be asked at any time. */
  report(): CliReport;
  /** What the CLI's own error events and stderr say is wrong; null = nothing. */
  fault(stderr: string): CliFault | null;
}

export interface CliReport {
  readonly sessionId: string | null;
  /** The assistant's text, cut to a size the host keeps. */
  readonly text: string;
  readonly model: string | null;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  /** Error events of the CLI, first one first; errors of tools are not among them. */
  readonly errors: readonly string[];
  /** Errors the CLI got over by itself; it may exit non-zero for them all the same. */
  readonly recovered: readonly string[];
  /** The CLI said that its turn is complete. */
  readonly finished: boolean;
  /** Events seen; 0 = the CLI said nothing. */
  readonly events: number;
}

export interface CliFault {
  readonly kind: "unknown-session" | "auth" | "model-not-found" | "quota" | "transient" | "context-overflow" | "step-limit" | "other";
  readonly message: string;
  /** How long the provider asks to wait; null = it did not say. */
  readonly retryAfterSec: number | null;
}
