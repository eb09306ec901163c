import { labelValue, type RunRequest, type StateSpec } from "@paperclip-k8s/engine";
import { ANNOTATION, LABEL, RUN_KEYS, SELECTOR } from "../host/keys.ts";
import { keptOutputPath, outputPath, UNFINISHED_OUTPUT } from "../host/paths.ts";
import { wakeUpSetting } from "../host/wake-ups.ts";
import type { OfferedTemplate } from "../policy/pod-template.ts";
import { ConfigError } from "../settings/config-error.ts";
import type { Attempt, RunInputs } from "./attempt.ts";
import { taskOf } from "./environment/facts.ts";
import { continuesRun, placeNote } from "./job-place.ts";
import { messagesAnnotation } from "./messages.ts";
import { podResources, podRules, scratchVolumes, serverUser } from "./pod.ts";
import { chosenTemplate, templateParts } from "./pod-template.ts";
import { fingerprintAnnotation, fingerprintOf } from "./resume-fingerprint.ts";
import { mountsFor } from "./scope/scope.ts";
import { taskPart } from "./state/kept-state.ts";
import { runTools, withTools } from "./tools/choice.ts";

/** Everything the engine needs for this attempt, as plain data. */
export function buildRequest(attempt: Attempt): RunRequest {
  const { inputs, plan } = attempt;
  const { ctx, cli, config, inherited, state, policy } = inputs;
  const shared = sharedWith(inputs);
  const template = chosenTemplate(config, policy);
  const output = outputPath(ctx, config, attempt.number);
  const exclusive = exclusiveKey(inputs);
  return {
    runId: ctx.runId,
    name: { prefix: cli.jobPrefix, parts: shared, identity: exclusive },
    exclusive,
    ...sameWork(inputs),
    // Jobs of earlier adapters: they ran one at a time per agent, and share its folders and its claim.
    legacyLabels: { [LABEL.agentId]: labelValue(ctx.agent.id).value, [LABEL.adapterType]: cli.type },
    namespace: inherited.namespace,
    labels: { ...config.labels, ...template.labels, ...policy.force.labels, ...labels(attempt) },
    annotations: annotations(attempt),
    keys: RUN_KEYS,
    selector: SELECTOR,
    container: {
      name: cli.container,
      image: inherited.image,
      imagePullPolicy: config.imagePullPolicy,
      workingDir: inputs.cwd,
      runtime: ["node"],
    },
    argv: withTools(plan.argv, attempt.tools, config),
    stdin: attempt.prompt.text,
    files: { ...plan.files, ...attempt.github?.files },
    programs: attempt.github?.programs ?? null,
    env: attempt.env,
    resources: podResources(inputs),
    pod: podRules(inputs),
    template: templateParts(template),
    scheduling: scheduling(inputs, template),
    volumes: volumes(attempt, output),
    user: serverUser(),
    limits: {
      timeoutSec: config.timeoutSec,
      maxRunSec: config.maxRunSec,
      graceSec: config.graceSec,
      scheduleTimeoutSec: config.scheduleTimeoutSec,
      ttlSeconds: config.ttlSecondsAfterFinished,
      outputBytes: policy.limits.outputBytes,
    },
    output: { root: inherited.claim.mountPath, path: output, keep: keptOutput(attempt), note: placeNote(inputs, attempt.number) },
    // An attempt that follows another one of its run has the lock, or has had it.
    continues: attempt.number === 1 && (attempt.place !== null || continuesRun(ctx)),
    adoptsOnly: attempt.place !== null,
    folders: inputs.scope.made,
    finalLine: cli.finalLine,
    seed: inputs.seeds.spec,
    ...(plan.defaults && { defaults: plan.defaults }),
    state: state.mode === "portable" ? stateOf(state.spec, attempt) : null,
    relay: relayOf(attempt),
    recordSecret: inputs.recordSecret,
    ...wakeUpsOf(inputs),
    tools: runTools(attempt, plan.argv[0]),
    retain: config.retainJobs,
  };
}

function wakeUpsOf({ serverEnv }: RunInputs): Pick<RunRequest, "wakeUps"> {
  const { rule } = wakeUpSetting(serverEnv);
  return rule === undefined ? {} : { wakeUps: rule };
}

function keptOutput({ inputs: { ctx, config, policy }, number }: Attempt): RunRequest["output"]["keep"] {
  const bytes = policy.limits.keepOutputBytes;
  return bytes === 0 ? null : { path: keptOutputPath(ctx, config, number), bytes, unfinished: UNFINISHED_OUTPUT };
}

/** Both types of a CLI, our own and the built-in one, share it. */
export const exclusiveKey = (inputs: Pick<RunInputs, "ctx" | "cli" | "config" | "state">): string =>
  [inputs.cli.inPlace?.ownType ?? inputs.cli.type, inputs.ctx.agent.companyId, ...sharedWith(inputs)].join("/");

/** Runs that have all of this in common never overlap. Two of one task never do: they share its session. */
function sharedWith({ ctx, config, state }: Pick<RunInputs, "ctx" | "config" | "state">): string[] {
  return config.concurrency === "agent" || state.mode === "dedicated_pvc" ? [ctx.agent.id] : [ctx.agent.id, taskPart(ctx)];
}

/** The host wakes an agent for one issue under several keys: for status cards, and to continue a run that somebody has reconciled. */
function sameWork({ ctx }: RunInputs): Pick<RunRequest, "sameWork"> {
  const task = taskOf(ctx);
  return task === null ? {} : { sameWork: { [ANNOTATION.agentId]: ctx.agent.id, [ANNOTATION.taskId]: task } };
}

/** Where the pod may run: the agent's or the server's own, then the template's, then what the operator forces. */
function scheduling({ config, inherited, policy }: RunInputs, template: OfferedTemplate): RunRequest["scheduling"] {
  return {
    nodeSelector: { ...inherited.nodeSelector, ...template.nodeSelector, ...policy.force.nodeSelector },
    tolerations: [...inherited.tolerations, ...(template.tolerations ?? [])],
    imagePullSecrets: [...new Set([...inherited.imagePullSecrets, ...template.imagePullSecrets])],
    dnsConfig: template.dnsConfig ?? inherited.dnsConfig,
    dnsPolicy: inherited.dnsPolicy,
    serviceAccountName: config.serviceAccountName,
  };
}

/** The CLI whose version is kept with the state is the one that runs. */
function stateOf(spec: StateSpec, { tools, inputs }: Attempt): StateSpec {
  const { version } = spec;
  if (version === null || typeof version === "string") return spec;
  const [program = "", ...args] = version;
  return { ...spec, version: withTools([program, ...args], tools, inputs.config) as [string, ...string[]] };
}

function volumes({ inputs, setOwnership }: Attempt, output: string): RunRequest["volumes"] {
  const { inherited, bundle, state, scope } = inputs;
  const { name: claimName, mountPath, subPath } = inherited.claim;
  const readOnly = bundle === null || bundle.folder === null ? [] : [bundle.folder];
  return {
    shared: { claimName, mountPath, subPath, readOnly, mounts: mountsFor(scope, output) },
    scratch: scratchVolumes(inputs),
    secrets: [...inherited.secretVolumes, ...inputs.seeds.secrets],
    configMaps: inherited.configMapVolumes,
    ...(state.mode === "dedicated_pvc" ? { claims: [{ ...state.volume, setOwnership }] } : {}),
  };
}

function labels({ inputs: { ctx, cli, config }, sessionId }: Attempt): Record<string, string> {
  const agent = labelValue(ctx.agent.id).value;
  if (agent === "") throw new ConfigError("agent.id", `"${ctx.agent.id}" leaves nothing that can be a Kubernetes label`);
  const optional = {
    [LABEL.taskId]: taskOf(ctx),
    [LABEL.sessionId]: sessionId,
    [LABEL.companyId]: ctx.agent.companyId,
    // The cluster's network policies keep the promise, and choose the pods that have it by this label.
    [LABEL.networkScope]: config.networkScope === "none" ? null : config.networkScope,
  };
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

/** What the request leaves out or changes. */
export function requestWarnings(attempt: Attempt): string[] {
  const { warning } = wakeUpSetting(attempt.inputs.serverEnv);
  return [...labelWarnings(attempt), ...(warning === undefined ? [] : [warning])];
}

/** Ids that labels cannot hold as they are; the annotations have them whole. */
function labelWarnings({ inputs: { ctx }, sessionId }: Attempt): string[] {
  const ids = { agent: ctx.agent.id, run: ctx.runId, company: ctx.agent.companyId, task: taskOf(ctx), session: sessionId };
  const changed = Object.entries(ids).filter(([, id]) => id !== null && labelValue(id).changed);
  return changed.map(([name, id]) => `the ${name} id ${JSON.stringify(id)} is shortened to what a label can hold`);
}

function annotations({ inputs, sessionId }: Attempt): Record<string, string> {
  const { ctx, cli } = inputs;
  const task = taskOf(ctx);
  return {
    [ANNOTATION.adapterType]: cli.type,
    [ANNOTATION.agentId]: ctx.agent.id,
    [ANNOTATION.agentName]: ctx.agent.name,
    [ANNOTATION.companyId]: ctx.agent.companyId,
    ...(task === null ? {} : { [ANNOTATION.taskId]: task }),
    ...(sessionId === null ? {} : { [ANNOTATION.sessionId]: sessionId }),
    ...messagesAnnotation(ctx.context),
    ...fingerprintAnnotation(fingerprintOf(inputs)),
  };
}

/** The host's answers to a run that does not own the issue, or no longer, and to one that is over: only here can another token help. */
const NOT_THE_OWNER = "Issue run ownership conflict|Credential acquisition requires this agent's active run";

/** The pod reaches the host's API through the runner, so that a Job that is taken over acts as the run that took it. Null = nothing to relay. */
function relayOf({ inputs: { ctx }, env, github }: Attempt): RunRequest["relay"] {
  if (env.apiUrl === null || ctx.authToken === undefined) return null;
  return {
    target: env.apiUrl,
    urlEnv: "PAPERCLIP_API_URL",
    tokenEnv: "PAPERCLIP_API_KEY",
    headers: { authorization: "Authorization", runId: "X-Paperclip-Run-Id" },
    retry: { statuses: [403, 409], bodyPattern: NOT_THE_OWNER, maxSec: 90 },
    maxReplayBytes: 1024 * 1024,
    credentials: { token: ctx.authToken, runId: ctx.runId, ...(github === null ? {} : { headers: github.headers }) },
  };
}
