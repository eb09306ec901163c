import { ApiError, type Engine, messageOf } from "@paperclip-k8s/engine";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import type { EnvironmentCheck, EnvironmentTestResult, TestContext as HostTestContext } from "../host/types.ts";
import { UnusableVolume } from "../host/unusable-volume.ts";
import { cleanValue } from "../observe/clean-text.ts";
import type { Policy } from "../policy/policy.ts";
import { PolicyError } from "../policy/refusal.ts";
import { checkedConfig } from "../prepare/agent-config.ts";
import { environmentOf } from "../prepare/attempt.ts";
import { inherit } from "../prepare/inherit/inherit-from.ts";
import type { Inherited } from "../prepare/inherit/inherited.ts";
import { refuseRemote } from "../prepare/remote-environment.ts";
import { chooseTools, toolsHelp } from "../prepare/tools/choice.ts";
import { rememberTools } from "../prepare/tools/remembered.ts";
import { ConfigError, few } from "../settings/config-error.ts";
import { agentFields } from "../settings/fields/agent.ts";
import { inFormWords } from "../settings/setting-name.ts";
import { check, failed } from "./check.ts";
import { checkAgentClaim } from "./check-agent-claim.ts";
import { apiProblem, checkApi, checkPermissions } from "./check-cluster.ts";
import { checkLocks } from "./check-locks.ts";
import { checkJob, checkVolume } from "./check-run.ts";
import { forNewAgent, isNewAgent } from "./new-agent.ts";
import { HELLO, NEEDS_HELLO, runHello } from "./probe/hello.ts";
import { type ProbeTimeouts, runProbe } from "./probe/probe.ts";
import { type Probe, type ProbeParts, probeRequest } from "./probe/probe-request.ts";

interface TestOptions {
  readonly engine: Engine;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Where the probe waits longer or shorter than usual. */
  readonly timeouts?: Partial<ProbeTimeouts>;
}

type TestContext = Pick<HostTestContext, "companyId" | "config" | "executionTarget" | "environmentName">;

/** Proxies give up on a request after a minute: the test must have answered by then. */
const TEST_MS = 50_000;
const PROBE_MS = 40_000;

/** The form's "Test" button: checks the settings, the cluster and the volume, and then runs a probe pod, unless an error was found before. */
export async function testEnvironment(cli: AgentCli, ctx: TestContext, options: TestOptions): Promise<EnvironmentTestResult> {
  const found = [...place(cli), ...(await findings(cli, ctx, options))];
  const checks = cleanValue(withOwnCodes(isNewAgent(ctx.config) ? forNewAgent(found) : found));
  return { adapterType: cli.type, status: statusOf(checks), checks, testedAt: new Date().toISOString() };
}

/** The host's page shows only one check of each code: a further one of the same code gets a number. */
function withOwnCodes(checks: readonly EnvironmentCheck[]): EnvironmentCheck[] {
  const counts = new Map<string, number>();
  return checks.map((found) => {
    const count = (counts.get(found.code) ?? 0) + 1;
    counts.set(found.code, count);
    return count === 1 ? found : { ...found, code: `${found.code}_${count}` };
  });
}

async function findings(cli: AgentCli, ctx: TestContext, options: TestOptions): Promise<readonly EnvironmentCheck[]> {
  const began = performance.now();
  const prepared = await prepare(cli, ctx, options.serverEnv);
  if (!("probe" in prepared)) return prepared.checks;
  const { parts, probe, checks: settings } = prepared;
  const cluster = { kubeconfig: parts.config.kubeconfig };
  const ownClaims = parts.config.agentDbMode === "dedicated_pvc";
  const { checks: access, mayCreateJobs } = await checkPermissions(cluster, parts.inherited.namespace, options.serverEnv, ownClaims);
  const [volume, locks, own, job] = await Promise.all([
    checkVolume(probe.request, cluster),
    checkLocks(parts.config, options.serverEnv),
    checkAgentClaim(parts, cluster),
    mayCreateJobs ? checkJob(probe.request, cluster) : Promise.resolve([]),
  ]);
  const before = [...settings, ...access, ...job, ...volume, locks, ...own, ...cliChecks(parts)];
  if (failed(before)) return [...before, check("info", "probe_skipped", "No probe was started: what is wrong above would end it")];
  const limits = () => ({ ms: Math.max(5000, Math.min(PROBE_MS, TEST_MS - (performance.now() - began))), timeouts: options.timeouts });
  const run = (tried: Probe) => runProbe(tried, limits(), options.engine, cluster);
  let { tools } = probe;
  let probed = await run(probe);
  const { missing } = probed;
  if (missing !== null && tools === null && toolsHelp(missing, parts)) {
    // As a run would: the next one begins with the tools at once.
    await rememberTools(parts, missing, probed.imageId).catch(() => {});
    tools = missing;
    probed = await run(await probeRequest(parts, tools));
  }
  const checks = [...before, ...probed.checks];
  if (parts.config.account !== NEEDS_HELLO || failed(checks)) return checks;
  return [...checks, await runHello(await probeRequest(parts, tools, HELLO), cli, limits().ms, options.engine, cluster)];
}

interface Refused {
  readonly checks: readonly EnvironmentCheck[];
}

interface Prepared extends Refused {
  readonly parts: ProbeParts;
  readonly probe: Probe;
}

/** What is inherited with these settings, and the probe for it; only checks, where settings or cluster allow none. */
async function prepare(
  cli: AgentCli,
  { companyId, config: raw, executionTarget, environmentName: name }: TestContext,
  serverEnv: NodeJS.ProcessEnv,
): Promise<Prepared | Refused> {
  let known: readonly EnvironmentCheck[] = [];
  try {
    refuseRemote({ executionTarget, context: { paperclipEnvironment: { name } } });
    // The newest release's: only a run can tell which one the host is.
    const { config, policy } = await checkedConfig(cli, raw, serverEnv, { agent: { companyId }, hasDefaultModel: true });
    const api = await checkApi(config);
    known = [...warned(config.warnings), api];
    if (failed(known)) return { checks: known };
    const parts = { cli, companyId, config, serverEnv, policy, inherited: await inherit(cli, config, serverEnv, policy) };
    const probe = await probeRequest(parts, await chooseTools(parts));
    const warnings = warned([...config.warnings, ...parts.inherited.warnings, ...probe.warnings]);
    return { parts, probe, checks: [found(parts.inherited), ...untriedRules(policy), ...warnings, api] };
  } catch (error) {
    return { checks: [...known, ...problemsOf(inFormWords(error, cli))] };
  }
}

function problemsOf(error: unknown): readonly EnvironmentCheck[] {
  if (error instanceof PolicyError)
    return error.refusals.map(({ field, name = field, text }) => check("error", "policy_refused", `${name}: ${text}`));
  if (error instanceof ApiError) return [apiProblem(error)];
  if (error instanceof UnusableVolume) return [check("error", "volume_unusable", messageOf(error))];
  const isModel = error instanceof ConfigError && error.field === agentFields.model.key;
  return [check("error", isModel ? "model_invalid" : "config_invalid", messageOf(error))];
}

function found({ image, namespace, claim }: Inherited): EnvironmentCheck {
  return check("info", "config_valid", `Agents run as ${image} in namespace ${namespace}, with claim ${claim.name} at ${claim.mountPath}`);
}

const place = ({ type, inPlace }: AgentCli): EnvironmentCheck[] => {
  const until = "while it is paused on the Adapters page, or if the server cannot load it, agents run inside the server";
  return inPlace === undefined ? [] : [check("info", "in_place", `Takes the place of the built-in adapter ${type}; ${until}`)];
};

/** The host says of which company and type the agent is, and nothing else. */
function untriedRules({ agents }: Policy): readonly EnvironmentCheck[] {
  const untried = agents.flatMap(({ match: { id, name, role } }, index) => ((id ?? name ?? role) ? [`agents[${index}]`] : []));
  if (untried.length === 0) return [];
  const text = `Rules of the policy that match by id, name or role are not tried here, because Paperclip does not say which agent it is: ${few(untried)}`;
  return [check("info", "rules_untried", text)];
}

const warned = (texts: readonly string[]): EnvironmentCheck[] => texts.map((text) => check("warn", "config_warning", text));

function cliChecks({ cli, config, inherited }: ProbeParts): readonly EnvironmentCheck[] {
  const sources = inherited.env.from.map(({ kind, name }) => `${kind === "secret" ? "Secret" : "ConfigMap"} ${name}`);
  return cli.checks?.({ config, known: { ...environmentOf({ config, inherited }), sources } }) ?? [];
}

function statusOf(checks: readonly EnvironmentCheck[]): EnvironmentTestResult["status"] {
  if (failed(checks)) return "fail";
  return checks.some(({ level }) => level === "warn") ? "warn" : "pass";
}
