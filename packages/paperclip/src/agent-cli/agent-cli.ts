import type { Argument, CliDefaults, FinalLine, ImportSource, Seed, StatePart } from "@paperclip-k8s/engine";
import type { McpServer } from "../host/mcp-servers.ts";
import type { BillingType, EnvironmentCheck, Model, SessionManagement } from "../host/types.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import type { Fields } from "../settings/field.ts";
import type { CliSettings } from "../settings/schema.ts";
import type { BuiltInType } from "./built-in-type.ts";
import type { Entry } from "./entry.ts";
import type { CliFault } from "./fault.ts";

/** Everything that differs between two agent CLIs: one folder with one of these adds a CLI. `Own` are the settings that only this CLI has. */
export interface AgentCli<Own extends Fields = Fields> {
  /** Adapter type at the host: the CLI's name and `_k8s`, or the built-in type whose place it takes. */
  readonly type: string;
  /** The host's own adapter for this CLI; none unless set. */
  readonly builtIn?: BuiltInType;
  /** Set by `inPlaceOf`: it runs the agents of the built-in type. Its Jobs and those of the other type never overlap. */
  readonly inPlace?: { readonly ownType: string };
  readonly label: string;
  /** Name of the main container. */
  readonly container: string;
  readonly jobPrefix: string;
  readonly settings: CliSettings<Own>;
  readonly variables: CliVariables;
  /** Where people put skills of their own on the shared volume, below the data path. */
  readonly skillsFolder: string;
  readonly models: readonly Model[];
  /** The same list with what the provider or the CLI itself reports, asked for with the server's own environment. */
  listModels(serverEnv: NodeJS.ProcessEnv): Promise<Model[]>;
  readonly sessionManagement: SessionManagement;
  /** The line that shows how the CLI ended, kept in the termination message. */
  readonly finalLine: FinalLine | null;
  /** Where the CLI finds instructions and skills in a folder that it is given; without it they are put into the prompt. */
  readonly bundle?: BundleLayout;
  /** The form of this CLI's session ids; any form unless set. */
  readonly sessionId?: RegExp;
  /** What it keeps from one run to the next; nothing unless set. */
  readonly state?: CliState;
  /** Whether it writes to folders of its image; otherwise the pod's root filesystem is read-only. */
  readonly needsWritableRoot?: boolean;
  /** Whether the plan hands the host's tool servers to the CLI. */
  readonly usesMcpServers?: boolean;
  /** Environment, files and arguments of one turn. */
  plan(turn: CliTurn<Own>): CliPlan | Promise<CliPlan>;
  billing(env: RunEnvironment, model: string | null): Billing;
  /** Checks of the CLI's own needs before a pod runs, above all whether its provider's key is there. Names only, never values. */
  checks?(settings: { readonly config: AgentConfig<Own>; readonly known: KnownVariables }): readonly EnvironmentCheck[];
  /** A parser for one turn, fed as lines arrive. */
  createParser(): CliParser;
  /** A line of its stderr as people want to read it, for a CLI that writes a log there; it must not throw. */
  showStderr?(line: string): string;
}

/** Environment variables that mean something to this CLI, by name, or by its beginning and `*`. */
export interface CliVariables {
  /** Inherited from the server's pod, besides those that any CLI may have. */
  readonly allowlist: readonly string[];
  /** Places and settings of the server's own: not inherited unless the agent's settings name them in full. */
  readonly denylist: readonly string[];
  /** Never in a pod, whoever sets them: marks by which the CLI believes that it runs inside another one. */
  readonly removed: readonly string[];
}

/** A CLI's files below its HOME, which is private to each run. */
export interface CliState {
  /** Its sessions and nothing else: no logins, no settings, no caches. */
  readonly parts: readonly StatePart[];
  /** Variables that make the CLI keep them below its HOME, whatever its build or the agent's settings say. */
  env?(home: string): Readonly<Record<string, string>>;
  /** How it keeps them on a claim of the agent's own; without it there is no `dedicated_pvc`. */
  readonly claim?: CliClaim;
  /** Command whose first line of output is its version; `command` = started instead of the CLI's own name. */
  version(command: string | null): readonly [string, ...string[]];
  /** Logins and settings that are copied into the private HOME; they come from the HOME that runs used to share. */
  readonly seeds: readonly Seed[];
  /** Where the adapters before this one kept a session, the likeliest place first; nothing is imported unless set. */
  imports?(session: EarlierSession): readonly ImportSource[];
  /** Whether the agent's settings keep the CLI's sessions in a place of their own, which we leave alone. */
  isElsewhere?(config: AgentConfig): boolean;
}

/** A session that an adapter before this one made. */
export interface EarlierSession {
  readonly sessionId: string;
  /** Where the CLI runs today. */
  readonly cwd: string;
  /** Where it ran then; null = not noted. */
  readonly madeIn: string | null;
  /** The HOME that all runs shared. */
  readonly dataPath: string;
  /** Mount point of the shared volume. */
  readonly volume: string;
  readonly companyId: string;
  readonly agentId: string;
  /** The host's key of the conversation; null = none. */
  readonly taskKey: string | null;
  /** The agent's own variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The server's, which runs inherited. */
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Tells the run's log something that a person should know. */
  readonly note: (text: string) => unknown;
}

/** A claim that belongs to one agent. */
export interface CliClaim {
  /** Its name is this and the agent's id. */
  readonly prefix: string;
  /** Variables that make the CLI keep its sessions in this folder. */
  env(folder: string): Readonly<Record<string, string>>;
}

/** A run's environment before the CLI's plan: inherited, then the agent's own. */
export interface RunEnvironment {
  /** Those whose values are known; a blank one hides what the CLI would find otherwise. */
  readonly values: Readonly<Record<string, string>>;
  /** Every name that will be set and not be blank, by reference too. */
  readonly names: ReadonlySet<string>;
}

/** The same, and where unknown variables may come from. */
export interface KnownVariables extends RunEnvironment {
  /** Secrets and ConfigMaps that are taken over whole: which names they bring is not known here. */
  readonly sources: readonly string[];
}

/** Who is paid for a run, and how. */
export interface Billing {
  readonly provider: string | null;
  readonly biller: string;
  readonly type: BillingType;
}

export interface CliTurn<Own extends Fields = Fields> {
  readonly config: AgentConfig<Own>;
  readonly agentId: string;
  readonly env: RunEnvironment;
  /** Names that may be set besides: those of Secrets and ConfigMaps that are taken over whole, as far as the server has them too. */
  readonly maybeSet: ReadonlySet<string>;
  readonly sessionId: string | null;
  /** What the run is about, as people named it; null = the host does not say. */
  readonly title: string | null;
  readonly promptBytes: number;
  readonly bundle: PromptBundle | null;
  /** Tool servers the host offers to this run. */
  readonly mcpServers: readonly McpServer[];
  /** Options that the CLI in the image was found not to know. */
  readonly without: readonly string[];
}

export interface CliPlan {
  readonly argv: readonly [string, ...Argument[]];
  /** Files of the run's Secret, by name; an argument may stand for one. */
  readonly files?: Readonly<Record<string, string>>;
  /** May stand in the Job spec. */
  readonly plainEnv: Readonly<Record<string, string>>;
  readonly secretEnv: Readonly<Record<string, string>>;
  /** What the CLI gets in a pod that has no settings of its own for it: from its image, its seeds or a template. */
  readonly defaults?: readonly CliDefaults[];
  /** Remarks for the run's log. */
  readonly notes: readonly string[];
}

/** Where a CLI looks for things in the folder it is pointed at. */
export interface BundleLayout {
  /** Each skill is a folder in this one. */
  readonly skills: string;
  readonly instructions: string;
}

/** An agent's instructions and skills as a folder on the shared volume, named by its content. */
export interface PromptBundle {
  /** `none` = the agent has neither. */
  readonly key: string;
  readonly folder: string | null;
  readonly instructionsFile: string | null;
  readonly instructionsChars: number;
  readonly skillsChars: number;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

export interface CliParser {
  /** Takes a line in, and gives what it means to a reader: each line is parsed once. */
  push(line: string): readonly Entry[];
  /** What is known so far; may be asked at any time. */
  report(): CliReport;
  /** What is wrong according to the CLI's own error events and stderr; null = nothing. */
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
  /** The CLI reported that its turn is complete. */
  readonly finished: boolean;
  /** The CLI reported that its turn succeeded. */
  readonly succeeded?: boolean;
  /** The model has called a tool. */
  readonly usedTools?: boolean;
  /** Small facts for the result that the host keeps. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Events of known types; 0 = the CLI wrote nothing that can be read. */
  readonly events: number;
}
