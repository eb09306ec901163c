import type { Fields, ValuesOf } from "./field.ts";
import type { CommonValues } from "./schema.ts";

/** Fields that become one value together with others (`resources`, `instructionsFilePath`, `labels`, `dataPath`), or that only the form has. */
type Combined = ResourceField | `instructions${"RootPath" | "EntryFile" | "BundleMode"}` | "labels" | "dataPath" | "showAllSettings";
type ResourceField = `${"request" | "limit"}${"Cpu" | "Memory"}`;

/** An agent's settings, checked and complete. What a field means, and what null stands for, is in `fields/`. */
export interface AgentConfig<Own extends Fields = Fields> extends Omit<CommonValues, Combined> {
  /** Settings that only this CLI has. */
  readonly own: ValuesOf<Own>;
  readonly resources: AgentResources;
  /** The user's own: no reserved key, valid values. */
  readonly labels: Readonly<Record<string, string>>;
  /** Mount path of the volume that server and pods share. */
  readonly dataPath: string;
  /** On that volume: skills that people put there themselves. */
  readonly skillsFolder: string;
  readonly instanceId: string;
  /** How the account signs in that the host gives to this agent; the run then has no other login. Null or absent = it has none. */
  readonly account?: string | null;
  /** For the run's log: settings that are skipped, misspelt or unlikely to be meant. */
  readonly warnings: readonly string[];
}

type Amounts = Readonly<Record<"cpu" | "memory", string>>;
export type AgentResources = Readonly<Record<"requests" | "limits", Amounts>>;
