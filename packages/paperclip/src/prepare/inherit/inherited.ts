import type { EnvReference, EnvSource, ObjectVolume } from "@paperclip-k8s/engine";
import type { CliVariables } from "../../agent-cli/agent-cli.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";

/** The settings that decide what a run takes from the server's pod; null there = as the server's pod has it. */
export type InheritSettings = Pick<
  AgentConfig,
  "inherit" | "inheritNames" | "namespace" | "image" | "dataPath" | "dataClaim" | "nodeSelector" | "tolerations"
>;

/** What else decides. */
export interface InheritFacts {
  /** Of the CLI that is to run. */
  readonly variables: CliVariables;
  /** The server's own environment: the values that its pod's spec only refers to. */
  readonly env?: NodeJS.ProcessEnv;
  /** Why its pod is not known. */
  readonly noPod?: string;
}

export interface Inherited {
  readonly namespace: string;
  readonly image: string;
  readonly imagePullSecrets: readonly string[];
  /** Only where it differs from what every pod has. */
  readonly dnsPolicy: string | null;
  readonly dnsConfig: Readonly<Record<string, unknown>> | null;
  readonly claim: InheritedClaim;
  readonly env: InheritedEnv;
  readonly secretVolumes: readonly ObjectVolume[];
  readonly configMapVolumes: readonly ObjectVolume[];
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Readonly<Record<string, unknown>>[];
  /** For the log: what was taken and what was left. Names only, never values. */
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

export interface InheritedClaim {
  readonly name: string;
  /** The same on both sides, so that paths mean the same. */
  readonly mountPath: string;
  readonly subPath: string | null;
}

export interface InheritedEnv {
  /** Values: for the run's Secret, not for the Job. */
  readonly literals: Readonly<Record<string, string>>;
  readonly references: readonly EnvReference[];
  readonly from: readonly EnvSource[];
  /** Names `from` may bring that are the server's alone. */
  readonly hidden: readonly string[];
}

/** Filled while things are chosen. */
export interface Findings {
  readonly notes: string[];
  readonly warnings: string[];
}
