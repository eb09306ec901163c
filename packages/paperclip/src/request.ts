import { labelValue, type RunRequest } from "@paperclip-k8s/engine";
import type { AgentCli, CliPlan } from "./agent-cli.ts";
import type { AgentConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { buildEnv, HOME_MOUNT, TMP_MOUNT, taskOf } from "./env.ts";
import type { ExecutionContext } from "./host.ts";
import { ANNOTATION, LABEL, SELECTOR } from "./keys.ts";
import { outputPath } from "./paths.ts";

export interface Turn {
  readonly ctx: ExecutionContext;
  readonly cli: AgentCli;
  readonly config: AgentConfig;
  readonly plan: CliPlan;
  readonly prompt: string;
  readonly sessionId: string | null;
  readonly stateDir: string;
  /** 1, or 2 for the fresh attempt after an unknown session. */
  readonly attempt: number;
  readonly serverEnv: NodeJS.ProcessEnv;
}

/** Everything the engine needs for this turn, as plain data. */
export function buildRequest(turn: Turn): RunRequest {
  const { ctx, cli, config, plan } = turn;
  const exclusive = `${cli.type}/${ctx.agent.companyId}/${ctx.agent.id}`;
  return {
    runId: ctx.runId,
    name: { prefix: cli.jobPrefix, parts: [ctx.agent.id], identity: exclusive },
    exclusive,
    continues: null,
    namespace: given("namespace", config.namespace),
    labels: labels(turn),
    annotations: annotations(turn),
    keys: { runId: ANNOTATION.runId, nonce: ANNOTATION.nonce, runner: ANNOTATION.runner },
    selector: SELECTOR,
    container: {
      name: cli.container,
      image: given("image", config.image),
      imagePullPolicy: config.imagePullPolicy,
      workingDir: workingDir(ctx, config),
      runtime: ["node"],
    },
    argv: plan.argv,
    stdin: Buffer.from(turn.prompt),
    files: {},
    env: buildEnv(ctx, config, plan, turn.serverEnv),
    resources: config.resources,
    scheduling: { nodeSelector: {}, tolerations: [], serviceAccountName: config.serviceAccountName, imagePullSecrets: [], dnsConfig: null },
    volumes: {
      shared: { claimName: given("dataClaim", config.dataClaim), mountPath: config.dataPath, subPath: null },
      scratch: [
        { name: "agent-home", mountPath: HOME_MOUNT, sizeLimit: "10Gi" },
        { name: "agent-tmp", mountPath: TMP_MOUNT, sizeLimit: "10Gi" },
      ],
    },
    user: podUser(),
    limits: {
      timeoutSec: config.timeoutSec,
      maxRunSec: config.maxRunSec,
      graceSec: config.graceSec,
      scheduleTimeoutSec: config.scheduleTimeoutSec,
      ttlSeconds: config.ttlSecondsAfterFinished,
    },
    output: { root: config.dataPath, path: outputPath(ctx, config, turn.attempt) },
    folders: [turn.stateDir],
    finalLine: cli.finalLine,
    retain: config.retainJobs,
  };
}

function given(field: string, value: string | null): string {
  if (value === null) throw new ConfigError(field, "is missing");
  return value;
}

function labels(turn: Turn): Record<string, string> {
  const { ctx, cli } = turn;
  const agent = labelValue(ctx.agent.id).value;
  if (agent === "") throw new ConfigError("agent.id", `"${ctx.agent.id}" leaves nothing that can be a Kubernetes label`);
  const optional = { [LABEL.taskId]: taskOf(ctx), [LABEL.sessionId]: turn.sessionId, [LABEL.companyId]: ctx.agent.companyId };
  const found = Object.entries(optional).flatMap(([key, value]) => (value === null ? [] : [[key, labelValue(value).value] as const]));
  return {
    [LABEL.managedBy]: "paperclip",
    [LABEL.component]: "agent-job",
    [LABEL.agentId]: agent,
    [LABEL.runId]: labelValue(ctx.runId).value,
    [LABEL.adapterType]: cli.type,
    ...Object.fromEntries(found.filter(([, value]) => value !== "")),
  };
}

function annotations(turn: Turn): Record<string, string> {
  const { ctx, cli } = turn;
  const task = taskOf(ctx);
  return {
    [ANNOTATION.adapterType]: cli.type,
    [ANNOTATION.agentId]: ctx.agent.id,
    [ANNOTATION.agentName]: ctx.agent.name,
    [ANNOTATION.companyId]: ctx.agent.companyId,
    ...(task === null ? {} : { [ANNOTATION.taskId]: task }),
    ...(turn.sessionId === null ? {} : { [ANNOTATION.sessionId]: turn.sessionId }),
  };
}

/** The workspace the host prepared, else the agent's own folder setting, else the shared volume. */
export function workingDir(ctx: ExecutionContext, config: AgentConfig): string {
  const workspace = ctx.context.paperclipWorkspace;
  const cwd = typeof workspace === "object" && workspace !== null ? (workspace as Record<string, unknown>).cwd : null;
  return typeof cwd === "string" && cwd.startsWith("/") ? cwd : (config.cwd ?? config.dataPath);
}

/** The server's own user, so that both sides may write the same files; root becomes the images' usual user. */
function podUser(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 1000;
  return uid === 0 ? { uid: 1000, gid: 1000 } : { uid, gid: process.getgid?.() ?? uid };
}
