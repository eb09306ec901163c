import { type HostApi, HostError } from "./api.ts";
import { recordOf, textOf } from "./context-values.ts";

/** What the host has on record about a run. */
export interface HostRun {
  readonly id: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly agentId: string | null;
  readonly retryOfRunId: string | null;
  /** Cancelled by the host itself before it started, because another run with a new comment takes its place. */
  readonly superseded: boolean;
  /** The run returned, but the host's database failed before the result was stored: the host shows its own error in place of it. */
  readonly resultLost?: true;
}

const LIVE: ReadonlySet<string> = new Set(["queued", "running", "scheduled_retry", "cancelling"]);
/** Our code for a run that left its Job to the next one. */
export const DETACHED_CODE = "k8s_detached";
/** The host's own codes for a run whose server stopped, and ours for a run that left its Job, or may have got one. */
const LOST_CODES: ReadonlySet<string> = new Set(["process_lost", "server_shutdown_interrupted", DETACHED_CODE, "k8s_takeover_failed"]);
/** How the host words a failure of the first thing that it writes after a run has returned. */
const LOST_RESULT = /^Failed query: insert into "workspace_operations"/;
/** A chain of retries is followed this far back. */
const MAX_RETRIES = 10;

export const isLive = ({ status }: Pick<HostRun, "status">): boolean => LIVE.has(status);

/** The run's end was not recorded, because its server stopped or failed at that, so its Job may still be there. Any other end the host has seen itself. */
export function isLost({ status, errorCode, resultLost }: Pick<HostRun, "status" | "errorCode" | "resultLost">): boolean {
  return status === "interrupted" || (status === "failed" && (resultLost === true || (errorCode !== null && LOST_CODES.has(errorCode))));
}

/** A drain left its Job to whichever run of the task comes next. */
export const isDetached = ({ status, errorCode }: Pick<HostRun, "status" | "errorCode">): boolean =>
  status === "failed" && errorCode === DETACHED_CODE;

/** Null = the host knows no such run. Throws where the host cannot be asked. */
export async function readRun(api: HostApi, id: string): Promise<HostRun | null> {
  const path = `/heartbeat-runs/${encodeURIComponent(id)}`;
  const answer = await api.get(path).catch((error: unknown) => {
    if (error instanceof HostError && error.status === 404) return null;
    throw error;
  });
  if (answer === null) return null;
  const run = runOf(id, answer);
  if (run === null) throw new HostError(`GET /api${path}: an answer without a status`, null);
  return run;
}

/** A run as the host shows it alone; null = that is no run. */
export function runOf(id: string, answer: unknown): HostRun | null {
  const run = listedRunOf(id, answer);
  const isLostResult = mayHaveLostResult(answer) && recordOf(recordOf(answer).resultJson).outcome === undefined;
  return run === null || !isLostResult ? run : { ...run, resultLost: true };
}

/** A run as it stands in a list. Lists leave results out, so `resultLost` is never set. */
export function listedRunOf(id: string, answer: unknown): HostRun | null {
  const { status, contextSnapshot, startedAt, resultJson, ...run } = recordOf(answer);
  if (typeof status !== "string") return null;
  const errorCode = textOf(run.errorCode);
  const byNobody = startedAt === null && errorCode === "cancelled" && recordOf(resultJson).cancelledByActorType === undefined;
  return {
    id,
    status,
    errorCode,
    agentId: textOf(run.agentId),
    retryOfRunId: textOf(run.retryOfRunId) ?? textOf(recordOf(contextSnapshot).retryOfRunId),
    superseded: status === "cancelled" && byNobody,
  };
}

/** Its error reads like that of a lost result. A CLI can fail with the same text, so only the result itself settles it. */
export function mayHaveLostResult(answer: unknown): boolean {
  const { errorCode, error } = recordOf(answer);
  return errorCode === "adapter_failed" && LOST_RESULT.test(textOf(error) ?? "");
}

/** Ids along a chain of retries, nearest first. It ends at a run that somebody cancelled, because what was stopped on purpose is not continued. */
export async function* retriedRuns(first: string | null, read: (id: string) => Promise<HostRun | null>): AsyncGenerator<string> {
  const seen = new Set<string>();
  for (let id = first; id !== null && !seen.has(id) && seen.size < MAX_RETRIES; ) {
    seen.add(id);
    yield id;
    const run: HostRun | null = await read(id);
    if (run === null || (run.status === "cancelled" && !run.superseded)) return;
    id = run.retryOfRunId;
  }
}
