import { open, readFile, rm, writeFile } from "node:fs/promises";
import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { recordOf, recordsOf, textOf } from "@paperclip-k8s/paperclip/values";
import type { Unattended } from "./read-unattended.ts";

/** What became of a run's cost, for people. */
export interface CostReport {
  readonly isReported: boolean;
  readonly text: string;
}

/**
 * Tells the host once what a run has cost. The host cannot say what it already knows, so a mark beside the run's files does: it is there before
 * the report, and stays where nobody knows whether that arrived.
 */
export async function reportCost(host: HostApi, one: Unattended, hasJob: boolean): Promise<CostReport> {
  const earlier = await readMark(one.mark);
  if (earlier !== null) return earlier;
  if (hasJob) return not("its Job is still there, and a run that takes it over would report the cost too; done when the Job is gone");
  const { usage } = one;
  if (!usage.genuine) return not("nothing proves that its output is its own");
  if (usage.inputTokens + usage.outputTokens === 0 && usage.costUsd === null) return not("it used nothing");
  const event = costEvent(one, await billingOf(host, one));
  await makeMark(one.mark, { state: "reporting", at: new Date().toISOString() });
  try {
    await host.post(`/companies/${one.run.companyId}/cost-events`, event);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (!isRefused(error)) return not(`${error.message}; the host may have booked it all the same`);
    await rm(one.mark, { force: true });
    return not(error.message);
  }
  const at = new Date().toISOString();
  const problem = await writeMark(one.mark, { state: "reported", at, costCents: event.costCents }).then(() => null, codeOf);
  return {
    isReported: true,
    text: `cost reported to the host now${problem === null ? "" : `; ${one.mark} cannot be written: ${problem}`}`,
  };
}

/** Nothing was booked, so that it may be reported another time. After any other answer, or none, nobody knows. */
const isRefused = ({ status }: HostError): boolean => status !== null && status >= 400 && status < 500 && status !== 408;

const not = (why: string): CostReport => ({ isReported: false, text: `cost not reported: ${why}` });

/** What is noted beside the run's files; null = nothing yet. */
export async function readMark(path: string): Promise<CostReport | null> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw new Error(`${path} cannot be read: ${codeOf(error)}`, { cause: error });
  });
  if (text === null) return null;
  const { state, at } = contentOf(text);
  const when = textOf(at) ?? "an unknown time";
  if (state === "reported") return { isReported: true, text: `cost reported to the host at ${when}` };
  return not(`a report was begun at ${when} and its answer not seen; look at the host's costs, then remove ${path}`);
}

/** A mark that was cut off in the middle is still a mark. */
function contentOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Fails if there is one already. One that could not be written is removed, because nothing is reported then. */
async function makeMark(path: string, content: object): Promise<void> {
  let isOurs = false;
  try {
    await (await open(path, "wx")).close();
    isOurs = true;
    await writeMark(path, content);
  } catch (error) {
    if (isOurs) await rm(path, { force: true });
    throw new Error(`${path} cannot be written: ${codeOf(error)}`, { cause: error });
  }
}

const writeMark = (path: string, content: object): Promise<void> => writeFile(path, `${JSON.stringify(content)}\n`);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

interface RunBilling {
  readonly provider: string | null;
  readonly biller: string | null;
  readonly billingType: string | null;
  readonly model: string | null;
}

/** As the host booked the agent's latest run that it has seen the end of. */
async function billingOf(host: HostApi, { run, agentId }: Unattended): Promise<RunBilling> {
  const runs = recordsOf(await host.get(`/companies/${run.companyId}/heartbeat-runs?agentId=${agentId}&limit=50`));
  const usage = runs.map(({ usageJson }) => recordOf(usageJson)).find(({ billingType }) => textOf(billingType) !== null) ?? {};
  const [provider, biller, billingType] = [textOf(usage.provider), textOf(usage.biller), textOf(usage.billingType)];
  return { provider, biller, billingType, model: textOf(usage.model) };
}

const TYPES: ReadonlySet<string> = new Set(["metered_api", "subscription_included", "subscription_overage", "credits", "fixed"]);

/** In the form that both hosts take; whole cents, and none for what a subscription includes, as the host books its own runs. */
function costEvent({ run, agentId, issue, cli, end, usage }: Unattended, billed: RunBilling) {
  const model = usage.model ?? billed.model;
  const guessed = cli.billing({ values: {}, names: new Set() }, model);
  const provider = billed.provider ?? guessed.provider ?? "unknown";
  const billingType = billed.billingType !== null && TYPES.has(billed.billingType) ? billed.billingType : "unknown";
  const cents = usage.costUsd === null || billingType === "subscription_included" ? 0 : Math.round(usage.costUsd * 100);
  return {
    agentId,
    ...(issue === null ? {} : { issueId: issue.id }),
    ...(issue?.projectId == null ? {} : { projectId: issue.projectId }),
    heartbeatRunId: run.id,
    provider,
    biller: billed.biller ?? provider,
    billingType,
    costStatus: usage.costUsd === null ? "unpriced" : "reported",
    model: model ?? "unknown",
    inputTokens: bounded(usage.inputTokens),
    cachedInputTokens: bounded(usage.cachedInputTokens),
    outputTokens: bounded(usage.outputTokens),
    costCents: bounded(cents),
    occurredAt: timeOf(end.at),
  };
}

/** The host's database takes no larger number, and an agent can claim any. */
const bounded = (value: number): number => Math.min(value, 2 ** 31 - 1);

/** As the host takes it; a record's time is the pod's word. */
const timeOf = (at: string): string => (Number.isNaN(Date.parse(at)) ? new Date() : new Date(at)).toISOString();
