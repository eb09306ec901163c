import type { Adoption, Engine } from "@paperclip-k8s/engine";
import type { InvocationMeta } from "../host/types.ts";
import type { Attempt, RunInputs } from "../prepare/attempt.ts";
import { MASK, withoutSecrets, withoutTokens } from "../prepare/prompt/redact.ts";
import { buildRequest } from "../prepare/request.ts";

/** Reports the attempt to the host once: when it has its Job, or at its end if it got none. A host that fails at it does not stop the run. */
export function createAnnouncement(attempt: Attempt, engine: Engine): (adopted: Adoption | null, jobName?: string) => Promise<void> {
  const { ctx } = attempt.inputs;
  let made: Promise<void> | null = null;
  const announce = async (adopted: Adoption | null, jobName?: string): Promise<void> => {
    const nameOf = () => jobName ?? engine.jobNameOf(buildRequest(attempt));
    const meta = adopted === null ? await metaOf(attempt, nameOf()) : adoptedMeta(attempt.inputs, adopted);
    ctx.onDispatch?.();
    await ctx.onMeta?.(meta);
  };
  return (adopted, jobName) => {
    made ??= announce(adopted, jobName).catch(() => {});
    return made;
  };
}

/** What the host shows about the start of an attempt. */
export async function metaOf({ inputs, env, prompt, plan }: Attempt, jobName: string): Promise<InvocationMeta> {
  const { buildInvocationEnvForLogs } = await import("../prepare/prompt/host-rendering.ts");
  const { image, namespace, notes } = inputs.inherited;
  const { timeoutSec } = inputs.config;
  // Only the names of secrets and references are shown: the host's own redaction does not see passwords in URLs.
  const hidden = [...env.references.map((reference) => reference.name), ...Object.keys(env.secret)];
  const shown = withoutSecrets(plan.argv.map((arg) => (typeof arg === "string" ? arg : `<file ${arg.file}>`)));
  const [command = "", ...args] = shown.map((arg, at) => (typeof plan.argv[at] === "string" ? shellWord(arg) : arg));
  const limit = timeoutSec === 0 ? "no time limit" : `time limit ${timeoutSec} s`;
  return {
    ...commonMeta(inputs),
    command,
    commandArgs: [...args, `< prompt (${prompt.text.length} characters)`],
    commandNotes: [...jobNotes(namespace, jobName), `image ${image}`, limit, ...prompt.notes, ...plan.notes, ...notes],
    env: { ...Object.fromEntries(hidden.map((name) => [name, MASK])), ...buildInvocationEnvForLogs({ ...env.plain }) },
    prompt: prompt.text,
    promptMetrics: { ...prompt.metrics },
  };
}

/** Of a run that took another one's Job over: it started nothing of its own. */
function adoptedMeta(inputs: RunInputs, { job, fromRun, firstRun }: Adoption): InvocationMeta {
  const { namespace } = inputs.inherited;
  const image = job.images[inputs.cli.container];
  return {
    ...commonMeta(inputs),
    command: logsOf(namespace, job.name),
    commandNotes: [
      `Job ${namespace}/${job.name}`,
      `adopted from run ${fromRun}${firstRun === fromRun ? "" : `, started by run ${firstRun}`}`,
      ...(image === undefined ? [] : [`image ${image}`]),
    ],
  };
}

/** Where the CLI runs, and how to see all that it writes. */
const jobNotes = (namespace: string, job: string): string[] => [
  `in Job ${namespace}/${job}`,
  `its output, unabridged, while the Job is there: ${logsOf(namespace, job)}`,
];

const logsOf = (namespace: string, job: string): string => `kubectl -n ${namespace} logs -f job/${job}`;

function commonMeta({ cli, ctx, cwd }: RunInputs) {
  const context = withoutTokens(ctx.context, ctx.authToken === undefined ? [] : [ctx.authToken]);
  return { adapterType: cli.type, cwd, context };
}

/** An argument as a shell takes it: the page puts blanks between them and nothing else. */
const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
