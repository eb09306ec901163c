import type { ImportSource } from "@paperclip-k8s/engine";
import type { LoginCapability } from "../host/types.ts";
import type { Policy } from "../policy/policy.ts";
import type { Raw } from "../settings/field.ts";
import type { EarlierSession } from "./agent-cli.ts";

/** The host's own adapter for a CLI, whose type ours can take over: what its agents have stored, and how it differs from ours. */
export interface BuiltInType {
  readonly type: string;
  /** Every setting that its agents can have, besides those that all built-in adapters have. */
  readonly settings: readonly BuiltInSetting[];
  /** What its agents have where neither they nor the operator's policy set it. */
  usual?(facts: SettingFacts): Raw;
  /** Variables in which the host gives the key of a managed account to its runs. */
  readonly accountVariables: readonly string[];
  /** How its runs get the host's connections: the host looks at this field of the adapter. */
  readonly runtimeToolDelivery: "native_mcp" | "environment";
  /** Its own sign-in, if it has one. */
  readonly login?: LoginCapability;
  /** Where it keeps a session on the server, the likeliest place first. */
  sessions(session: BuiltInSession): readonly ImportSource[];
}

/** A session that the built-in adapter made. */
export interface BuiltInSession extends EarlierSession {
  /** HOME of the server's user, where its CLIs keep their files. */
  readonly serverHome: string;
}

/** What becomes of one setting. Each kind is a word of the table in docs/in-place.md. */
export type BuiltInSetting =
  /** Ours of the same name means the same. */
  | { readonly key: string; readonly becomes: "kept" | "kept or refused" | "host"; readonly doc: string }
  /** Translated, or left out with a warning. */
  | {
      readonly key: string;
      readonly becomes: "mapped" | "left out";
      readonly doc: string;
      translate(value: unknown, facts: SettingFacts): Translated;
    };

/** What a translation may depend on. */
export interface SettingFacts {
  /** The agent's settings as they are stored. */
  readonly raw: Raw;
  readonly serverEnv: NodeJS.ProcessEnv;
  readonly policy: Policy;
  /** Where the shared volume is; folders elsewhere are the server's own disk. */
  readonly dataPath: string;
  /** Whether this release of the host has a default model for agents that name none. */
  readonly hasDefaultModel: boolean;
}

interface Translated {
  /** Settings of ours that it stands for, in the place of what the agent has by these names. */
  readonly set?: Raw;
  /** What is left out of it, for the run's log. */
  readonly warning?: string;
}
