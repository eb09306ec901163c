import { randomBytes, randomUUID } from "node:crypto";
import { dirname, normalize } from "node:path/posix";
import { type RunRequest, runtimeOf, selfCheckArgv, withoutTrailing } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import { mcpAccess } from "../../host/mcp-servers.ts";
import { agentsOwnFolder } from "../../host/paths.ts";
import type { ExecutionContext } from "../../host/types.ts";
import { firstStart, prepareAttempt, type RunParts } from "../../prepare/attempt.ts";
import { workingFolder } from "../../prepare/environment/workspace.ts";
import { buildRequest } from "../../prepare/request.ts";
import { findScope } from "../../prepare/scope/scope.ts";
import { NO_SEEDS } from "../../prepare/state/find-seeds.ts";
import { type ToolsReason, toolsNote } from "../../prepare/tools/choice.ts";

/** The test is of a company's settings, not of an agent. */
export type ProbeParts = Omit<RunParts, "ctx"> & { readonly companyId: string };

export interface Probe {
  readonly request: RunRequest;
  /** Where the pod looks for the host; null = not known. */
  readonly apiUrl: string | null;
  readonly warnings: readonly string[];
  /** Whether Node and CLI come from the tools image, and why; null = they are the image's own. */
  readonly tools: ToolsReason | null;
  /** The same in words. */
  readonly toolsNote: string | null;
}

/** No agent has this id; the probe's Jobs are found by it. */
const PROBE_AGENT = "environment-test";
const FINDING_MS = 15_000;

/** A run with these settings that starts our self-check instead of the CLI, or the CLI with a prompt of ours, under a name and with limits of its own. */
export async function probeRequest(
  { cli, companyId, config, inherited, serverEnv, policy }: ProbeParts,
  tools: ToolsReason | null,
  prompt: string | null = null,
): Promise<Probe> {
  const ctx = probeContext(companyId);
  const parts = { ctx, cli, config: withoutAgentsInstructions(ctx, config), inherited, serverEnv, policy };
  const cwd = workingFolder(parts);
  // No later server takes a probe over, so its records need no secret that lasts.
  const kept = {
    recordSecret: randomBytes(32),
    bundle: null,
    mcp: mcpAccess(ctx, null),
    state: { mode: "ephemeral" },
    seeds: NO_SEEDS,
  } as const;
  const scope = await findScope({ ...parts, ...kept, cwd });
  const attempt = await prepareAttempt({ ...parts, ...kept, cwd, scope }, firstStart(null, tools));
  const like = buildRequest(attempt);
  const { apiUrl } = attempt.env;
  const selfCheck = {
    cli: like.argv[0],
    url: apiUrl === null ? null : `${withoutTrailing(apiUrl, "/")}/api/health`,
    folders: { home: "$HOME", temp: "$TMPDIR", work: cwd },
    timeoutMs: FINDING_MS,
  };
  const request: RunRequest = {
    ...like,
    name: { prefix: cli.jobPrefix, parts: [PROBE_AGENT], identity: ctx.runId },
    exclusive: null,
    ...(prompt === null
      ? { argv: selfCheckArgv(runtimeOf(like), selfCheck), stdin: Buffer.alloc(0), files: {}, finalLine: null }
      : { stdin: Buffer.from(prompt) }),
    limits: { ...like.limits, timeoutSec: 40, graceSec: 1, scheduleTimeoutSec: 60, ttlSeconds: 60 },
    retain: false,
  };
  const warnings = [...scope.warnings, ...attempt.prompt.warnings, ...attempt.env.warnings];
  return { request, apiUrl, warnings, tools, toolsNote: tools === null ? null : toolsNote(tools, parts) };
}

/** The probe reads no prompt, and it is no agent: instructions that the host keeps for an agent of this company are not its to refuse. */
function withoutAgentsInstructions(ctx: ExecutionContext, config: ProbeParts["config"]): ProbeParts["config"] {
  const agents = dirname(agentsOwnFolder(ctx, config));
  const { instructionsFilePath: path } = config;
  return path !== null && isBelow(normalize(path), agents) ? { ...config, instructionsFilePath: null } : config;
}

function probeContext(companyId: string): ExecutionContext {
  return {
    runId: `${PROBE_AGENT}-${randomUUID()}`,
    agent: { id: PROBE_AGENT, companyId, name: "Environment test" },
    runtime: { sessionId: null, sessionParams: null, sessionDisplayId: null, taskKey: null },
    config: {},
    context: {},
    onLog: async () => {},
  };
}
