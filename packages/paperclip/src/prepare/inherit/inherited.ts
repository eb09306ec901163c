import type { EnvReference, EnvSource, ObjectVolume } from "@paperclip-k8s/engine";
import type { CliVariables } from "../../agent-cli/agent-cli.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import type { RunObjects } from "./run-objects.ts";

/** The settings that decide what a run takes from the server's pod; null there = as the server's pod has it. */
export type InheritSettings = Pick<
  AgentConfig,
  "inherit" | "inheritNames" | "namespace" | "image" | "dataPath" | "dataClaim" | "nodeSelector" | "tolerations"
>;

/** What decides besides the settings. */
export interface InheritFacts {
  /** Of the CLI that is to run. */
  readonly variables: CliVariables;
  /** The server's own environment: the values that its pod's spec only refers to. */
  readonly env?: NodeJS.ProcessEnv;
  /** What of the server's objects a run finds in another namespace; nothing unless set. */
  readonly elsewhere?: RunObjects;
  /** Why its pod is not known. */
  readonly noPod?: string;
}

export interface Inherited {
  readonly namespace: string;
  readonly image: string;
  readonly imagePullSecrets: readonly string[];
  /** Null = the default. */
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
  /** The same in server and pod, so that paths are valid in both. */
  readonly mountPath: string;
  readonly subPath: string | null;
}

export interface InheritedEnv {
  /** Values: for the run's Secret, not for the Job. */
  readonly literals: Readonly<Record<string, string>>;
  readonly references: readonly EnvReference[];
  readonly from: readonly EnvSource[];
  /** Names that `from` may bring and that no run may have: set empty. */
  readonly hidden: readonly string[];
}

/** Lines for the log, collected on the way. */
export interface Findings {
  readonly notes: string[];
  readonly warnings: string[];
}
