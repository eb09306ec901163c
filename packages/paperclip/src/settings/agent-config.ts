import type { Toleration } from "./kinds/tolerations.ts";

/** An agent's settings, checked and complete. A setting its adapter does not have holds the default. */
export interface AgentConfig {
  readonly model: string | null;
  readonly effort: string | null;
  /** Program to start instead of the CLI's own name. */
  readonly command: string | null;
  readonly extraArgs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  readonly promptTemplate: string | null;
  readonly bootstrapPromptTemplate: string | null;
  /** On the server's disk. */
  readonly instructionsFilePath: string | null;
  readonly dangerouslySkipPermissions: boolean;
  /** Claude: 0 = no limit. */
  readonly maxTurnsPerRun: number;
  readonly enableRtk: boolean;
  readonly rtkMaxOutputBytes: number;
  readonly kubeconfig: string | null;
  /** null, here and below = taken from the server's own pod. */
  readonly namespace: string | null;
  readonly image: string | null;
  readonly imagePullPolicy: "Always" | "IfNotPresent" | "Never";
  readonly serviceAccountName: string | null;
  readonly serverContainer: string | null;
  readonly inherit: "listed" | "all";
  readonly inheritNames: readonly string[];
  readonly resources: AgentResources;
  readonly nodeSelector: Readonly<Record<string, string>> | null;
  readonly tolerations: readonly Toleration[] | null;
  /** The user's own: no reserved key, valid values. */
  readonly labels: Readonly<Record<string, string>>;
  /** Mount path of the volume that server and pods share, and the claim behind it. */
  readonly dataPath: string;
  readonly dataClaim: string | null;
  readonly instanceId: string;
  readonly timeoutSec: number;
  readonly graceSec: number;
  readonly maxRunSec: number;
  readonly scheduleTimeoutSec: number;
  readonly ttlSecondsAfterFinished: number;
  readonly retainJobs: boolean;
  readonly reattachOrphanedJobs: boolean;
  readonly concurrency: "task" | "agent";
  readonly agentDbMode: "portable" | "dedicated_pvc" | "ephemeral";
  readonly stateSaveIntervalSec: number;
  readonly stateRetentionDays: number;
  readonly stateMaxTasks: number;
  readonly agentDbStorageClass: string | null;
  readonly agentDbStorageCapacity: string;
  /** For the run's log: settings that are skipped, misspelt or unlikely to be meant. */
  readonly warnings: readonly string[];
}

export interface AgentResources {
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly cpu: string; readonly memory: string };
}
