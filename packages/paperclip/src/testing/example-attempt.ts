import type { Evidence, RunOutcome } from "@paperclip-k8s/engine";
import type { CliReport, RunEnvironment } from "../agent-cli/agent-cli.ts";
import type { AttemptResult } from "../conclude/attempts.ts";
import { DEFAULT_POLICY } from "../policy/policy.ts";
import type { Attempt, RunInputs } from "../prepare/attempt.ts";
import type { AgentConfig } from "../settings/agent-config.ts";
import { exampleCli } from "./example-cli.ts";
import { hostContext } from "./host-context.ts";

// Attempts and their results, for tests that say what differs.

/** An outcome without its evidence. */
export type OutcomeKind = RunOutcome extends infer Each ? (Each extends unknown ? Omit<Each, "evidence"> : never) : never;

export const exampleEvidence: Evidence = {
  namespace: "agents",
  jobName: "job",
  jobUid: "uid",
  podName: "pod",
  node: "n",
  imageId: null,
  image: "image",
  proof: "end-record",
  endRecord: null,
  signed: true,
  termination: null,
  container: { kind: "running", startedAt: null },
  podReason: null,
  jobReason: null,
  events: [],
  output: { delivered: 10, expected: 10, complete: true, problem: null, forged: false },
  memory: { oomKills: null, limit: "8Gi", peak: null, figures: "limit 8Gi", killed: false, remedy: null },
  state: null,
  warnings: [],
  timings: { admitted: 1, accepted: 1, scheduled: 1, started: 1, firstOutput: 1, cliOver: 1, settled: 1 },
};

export const exampleReport: CliReport = {
  sessionId: "ses_2",
  text: "done",
  model: null,
  inputTokens: 10,
  cachedInputTokens: 5,
  outputTokens: 3,
  costUsd: 0.01,
  errors: [],
  recovered: [],
  finished: true,
  events: 4,
};

const billing = ({ names }: RunEnvironment, model: string | null) => ({ provider: model, biller: [...names].join(), type: "api" as const });

export function exampleInputs(changes: Partial<RunInputs> = {}): RunInputs {
  return {
    ctx: hostContext().ctx,
    cli: { ...exampleCli, billing },
    config: { model: "acme/m-1", cwd: null, env: { C: "c" } } as unknown as AgentConfig,
    inherited: { env: { literals: { A: "a" }, references: [{ name: "B" }] } } as unknown as RunInputs["inherited"],
    serverEnv: {},
    policy: DEFAULT_POLICY,
    cwd: "/data/work",
    bundle: null,
    mcp: { servers: [], identity: "" },
    state: { mode: "own" },
    scope: { mounts: null, made: [], warnings: [] },
    seeds: { spec: null, mounts: [], secrets: [], warnings: [] },
    recordSecret: Buffer.alloc(32),
    ...changes,
  };
}

export function exampleAttempt(changes: Partial<Attempt> = {}): Attempt {
  const parts = { plan: {}, prompt: {}, env: {} } as unknown as Pick<Attempt, "plan" | "prompt" | "env">;
  return {
    number: 1,
    sessionId: null,
    without: [],
    setOwnership: false,
    tools: null,
    place: null,
    github: null,
    inputs: exampleInputs(),
    ...parts,
    ...changes,
  };
}

export const exited = (exitCode: number | null, signal: string | null = null): OutcomeKind => ({ kind: "exited", exitCode, signal });

interface ResultChanges extends Omit<Partial<AttemptResult>, "outcome" | "report"> {
  readonly report?: Partial<CliReport>;
  readonly evidence?: Partial<Evidence>;
}

export function exampleResult(outcome: OutcomeKind = exited(0), { report, evidence, ...changes }: ResultChanges = {}): AttemptResult {
  return {
    attempt: exampleAttempt(),
    outcome: { ...outcome, evidence: { ...exampleEvidence, ...evidence } } as RunOutcome,
    report: { ...exampleReport, ...report },
    fault: null,
    stderr: "",
    adopted: null,
    endedAt: 0,
    ...changes,
  };
}
