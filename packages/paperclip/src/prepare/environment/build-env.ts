import type { RunRequest } from "@paperclip-k8s/engine";
import type { CliPlan } from "../../agent-cli/agent-cli.ts";
import { textOf } from "../../host/context-values.ts";
import type { InheritedEnv } from "../inherit/inherited.ts";
import { isFixed, overrideWarnings } from "./fact-overrides.ts";
import { type EnvContext, hostFacts, isTooLong, mayBePlain } from "./facts.ts";
import { withoutHostDisk } from "./host-disk.ts";
import { FORCED } from "./mounts.ts";
import { workspaceOf } from "./workspace.ts";

export interface EnvInput {
  readonly ctx: EnvContext;
  readonly config: { readonly env: Readonly<Record<string, string>>; readonly cwd: string | null; readonly dataPath: string };
  /** Whether the pod has this path of the shared volume. */
  readonly isMounted: (path: string) => boolean;
  /** Where the pod has the folder that the host names as the agent's home. */
  readonly homeInPod: (given: string) => string;
  readonly plan: Pick<CliPlan, "plainEnv" | "secretEnv">;
  /** Variables that this CLI must not find, whoever sets them. */
  readonly removed: readonly string[];
  readonly serverEnv: NodeJS.ProcessEnv;
  /** What comes from the server's own pod. */
  readonly inherited?: InheritedEnv;
  /** Set over everything else, in the Job spec; an agent that sets one of these gets a warning. */
  readonly forced?: Readonly<Record<string, string>>;
}

/** The request's `env`, with the API's address and warnings. */
export interface PodEnv extends Required<RunEnv> {
  /** Where the host's API is for this run, which may differ from what the pod gets: a relay's target. */
  readonly apiUrl: string | null;
  readonly warnings: readonly string[];
}

type RunEnv = RunRequest["env"];

/** The run's own token is the only identity at the host. */
const IDENTITIES = ["PAPERCLIP_DEV_API_KEY", "PAPERCLIP_API_KEY"];

const NOTHING: InheritedEnv = { literals: {}, references: [], from: [], hidden: [] };

/** A pod's environment in its layers: inherited, the host's facts, the agent's settings, what is forced. */
export async function buildEnv(input: EnvInput): Promise<PodEnv> {
  const { ctx, config, plan, serverEnv, inherited = NOTHING } = input;
  const apiUrl = apiUrlOf(config.env, serverEnv);
  const workspace = workspaceOf(ctx.context, config.cwd);
  const home = workspace.agentHome === null ? null : input.homeInPod(workspace.agentHome);
  const known = await hostFacts(ctx, apiUrl, input.isMounted, { ...workspace, agentHome: home });
  const long = Object.keys(known).filter((name) => isTooLong(name, known[name]!));
  const facts = without(known, long);
  const forced = { ...FORCED, ...plan.plainEnv, ...plan.secretEnv, ...input.forced };
  const never = [...IDENTITIES, ...input.removed];
  const settings = settingsOf(input, facts, [...never, ...Object.keys(forced)]);
  const secret: Record<string, string> = without(inherited.literals, never);
  const plain: Record<string, string> = {};
  // A later layer replaces an earlier value, whether that is plain or secret.
  const set = (values: Readonly<Record<string, string>>, isPlain: (name: string, value: string) => boolean) => {
    for (const [name, value] of Object.entries(values)) {
      const [target, other] = isPlain(name, value) ? [plain, secret] : [secret, plain];
      delete other[name];
      target[name] = value;
    }
  };
  set(facts, mayBePlain);
  set(settings.env, () => false);
  set({ ...FORCED, ...plan.plainEnv }, () => true);
  set(plan.secretEnv, () => false);
  set(input.forced ?? {}, () => true);
  const taken = new Set([...never, ...Object.keys(plain), ...Object.keys(secret)]);
  return {
    plain,
    secret,
    references: inherited.references.filter((reference) => !taken.has(reference.name)),
    from: inherited.from,
    hidden: inherited.from.length === 0 ? [] : [...new Set([...inherited.hidden, ...never])],
    apiUrl,
    warnings: [...settings.warnings, ...long.map((name) => `${name} is longer than a program's environment may be and was left out`)],
  };
}

/** The host's API as pods reach it. */
export function apiUrlOf(env: Readonly<Record<string, string>>, serverEnv: NodeJS.ProcessEnv): string | null {
  return textOf(env.PAPERCLIP_API_URL) ?? textOf(serverEnv.PAPERCLIP_API_URL) ?? textOf(serverEnv.PAPERCLIP_RUNTIME_API_URL);
}

/** The agent's own variables, without those that are assigned to each run. */
function settingsOf(input: EnvInput, facts: Readonly<Record<string, string>>, unused: readonly string[]) {
  const { config, ctx, serverEnv, isMounted, forced: assigned = {} } = input;
  const env = withoutHostDisk({ env: config.env, context: ctx.context, serverEnv, isMounted });
  // What the CLI's plan forces needs no warning: the plan has already merged the agent's own value.
  const forced = Object.keys(env).filter((name) => Object.hasOwn(FORCED, name) || Object.hasOwn(assigned, name));
  const reported = forced.filter((name) => name !== "PAPERCLIP_API_URL");
  const warnings = [
    ...overrideWarnings(env, facts),
    ...(reported.length === 0
      ? []
      : [`set for each run, so the agent's own setting is not used: ${reported.map((name) => `env.${name}`).join(", ")}`]),
  ];
  // The address of the API is taken from the agent's settings before: as the target of a relay, if there is one.
  const overruled = [...forced, ...Object.keys(env).filter(isFixed), "PAPERCLIP_API_URL"];
  return { env: without(env, [...unused, ...overruled]), warnings };
}

function without(values: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
