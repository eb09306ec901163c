import { ApiError, type Engine, messageOf } from "@paperclip-k8s/engine";
import type { AgentCli } from "../agent-cli/agent-cli.ts";
import type { EnvironmentCheck, EnvironmentTestResult, ServerAdapter } from "../host/types.ts";
import { environmentOf } from "../prepare/attempt.ts";
import { inherit } from "../prepare/inherit/inherit-from.ts";
import type { Inherited } from "../prepare/inherit/inherited.ts";
import { parseConfig } from "../settings/parse.ts";
import { check, failed } from "./check.ts";
import { checkAgentClaim } from "./check-agent-claim.ts";
import { apiProblem, checkApi, checkPermissions } from "./check-cluster.ts";
import { checkJob } from "./check-job.ts";
import { checkVolume } from "./check-volume.ts";
import { type ProbeTimeouts, runProbe } from "./probe.ts";
import { type Probe, type ProbeParts, probeRequest } from "./probe-request.ts";

interface TestOptions {
  readonly engine: Engine;
  readonly serverEnv: NodeJS.ProcessEnv;
  /** Where the probe waits longer or shorter than usual. */
  readonly timeouts?: Partial<ProbeTimeouts>;
}

type TestContext = Pick<Parameters<ServerAdapter["testEnvironment"]>[0], "companyId" | "config">;

/** Proxies give up on a request after a minute: the test must have answered by then. */
const TEST_MS = 50_000;
const PROBE_MS = 40_000;

/** The form's "Test" button: checks the settings, the cluster and the volume, and then runs a probe pod, unless an error was found before. */
export async function testEnvironment(cli: AgentCli, ctx: TestContext, options: TestOptions): Promise<EnvironmentTestResult> {
  const checks = [...(await findings(cli, ctx, options))];
  return { adapterType: cli.type, status: statusOf(checks), checks, testedAt: new Date().toISOString() };
}

async function findings(cli: AgentCli, ctx: TestContext, options: TestOptions): Promise<readonly EnvironmentCheck[]> {
  const { serverEnv, engine } = options;
  const began = performance.now();
  const config = attempt(() => parseConfig(ctx.config, serverEnv, cli));
  if ("refused" in config) return [config.refused];
  const cluster = { kubeconfig: config.value.kubeconfig };
  const api = await checkApi(cluster);
  if (failed([api])) return [...warned(config.value.warnings), api];
  const place = await prepare({ cli, companyId: ctx.companyId, config: config.value, serverEnv });
  if ("refused" in place) return [...warned(config.value.warnings), api, place.refused];
  const { parts, probe } = place.value;
  const { inherited } = parts;
  const settings = [found(inherited), ...warned([...config.value.warnings, ...inherited.warnings, ...probe.warnings]), api];
  const ownClaims = config.value.agentDbMode === "dedicated_pvc";
  const { checks: access, mayCreateJobs } = await checkPermissions(cluster, inherited.namespace, serverEnv, ownClaims);
  const [volume, own, job] = await Promise.all([
    checkVolume(probe.request, cluster),
    checkAgentClaim(parts, cluster),
    mayCreateJobs ? checkJob(probe.request, cluster) : Promise.resolve([]),
  ]);
  const before = [...settings, ...access, ...job, ...volume, ...own, ...cliChecks(parts)];
  if (failed(before)) return [...before, check("info", "probe_skipped", "No probe was started: the errors above would end it")];
  const left = TEST_MS - (performance.now() - began);
  const limits = { ms: Math.max(5000, Math.min(PROBE_MS, left)), timeouts: options.timeouts };
  return [...before, ...(await runProbe(probe, limits, engine, cluster))];
}

type Attempt<T> = { readonly value: T } | { readonly refused: EnvironmentCheck };

function attempt<T>(act: () => T): Attempt<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { refused: invalid(error) };
  }
}

const invalid = (error: unknown) => check("error", "config_invalid", messageOf(error));

interface Prepared {
  readonly parts: ProbeParts;
  readonly probe: Probe;
}

/** What is inherited with these settings, and the probe for it. */
async function prepare(given: Omit<ProbeParts, "inherited">): Promise<Attempt<Prepared>> {
  try {
    const parts = { ...given, inherited: await inherit(given.cli, given.config, given.serverEnv) };
    return { value: { parts, probe: await probeRequest(parts) } };
  } catch (error) {
    return { refused: error instanceof ApiError ? apiProblem(error) : invalid(error) };
  }
}

function found({ image, namespace, claim }: Inherited): EnvironmentCheck {
  return check("info", "config_valid", `Agents run as ${image} in namespace ${namespace}, with claim ${claim.name} at ${claim.mountPath}`);
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
