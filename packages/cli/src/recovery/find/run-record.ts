import { type HostApi, HostError } from "@paperclip-k8s/paperclip/host-api";
import { type HostRun, runOf } from "@paperclip-k8s/paperclip/runs";
import { isRecord, recordOf, textOf } from "@paperclip-k8s/paperclip/values";

/** A run as the host has it on record, with the result that our adapter returned for it. */
export interface RunRecord extends HostRun {
  readonly exitCode: number | null;
  readonly finishedAt: string | null;
  readonly error: string | null;
  readonly issueId: string | null;
  /** Null = the host has stored none: nobody returned one, or it came too late. */
  readonly result: StoredResult | null;
}

/** What our result says of the end. All of it may be missing: earlier versions returned less. */
export interface StoredResult {
  /** The engine's word for the end, as "exited"; null = no attempt could be prepared, or the result is not ours. */
  readonly outcome: string | null;
  /** What the end was read from. */
  readonly proof: string | null;
  /** Our own code, where the host's is a general one. */
  readonly cause: string | null;
  readonly job: string | null;
  /** It says that nothing was started. */
  readonly notStarted: boolean;
  /** It says that a cancelled agent has stopped. */
  readonly acknowledged: boolean;
  readonly forged: boolean;
}

/** Null = the host knows no such run. */
export async function readRecord(host: HostApi, id: string): Promise<RunRecord | null> {
  const answer = await host.get(`/heartbeat-runs/${encodeURIComponent(id)}`).catch(unlessGone);
  return answer === null ? null : runRecord(id, answer);
}

export function runRecord(id: string, answer: unknown): RunRecord | null {
  const run = runOf(id, answer);
  if (run === null) return null;
  const { exitCode, finishedAt, error, contextSnapshot, resultJson } = recordOf(answer);
  return {
    ...run,
    exitCode: typeof exitCode === "number" ? exitCode : null,
    finishedAt: textOf(finishedAt),
    error: textOf(error),
    issueId: textOf(recordOf(contextSnapshot).issueId),
    result: storedResult(recordOf(resultJson)),
  };
}

/** The host adds `configFreshness` to a result that `execute` returned, and to nothing else. A run it never handed to an adapter has only its own word that nothing was started. */
function storedResult(json: Readonly<Record<string, unknown>>): StoredResult | null {
  const recovery = recordOf(json.executionRecovery);
  const notStarted = recovery.kind === "bootstrap" && recovery.providerWorkStarted === false;
  if (!isRecord(json.configFreshness) && !notStarted) return null;
  return {
    outcome: textOf(json.outcome),
    proof: textOf(json.proof),
    cause: textOf(json.cause),
    job: textOf(json.job),
    notStarted,
    acknowledged: recordOf(json.executionCancellation).state === "acknowledged",
    forged: recordOf(json.output).forged === true,
  };
}

/** How the host lists a run's end: its code only where that says more than the status, and ours where the host's is a general one. */
export function endedAs({ status, errorCode, result }: Pick<RunRecord, "status" | "errorCode" | "result">): string {
  const code = result?.cause ?? errorCode;
  return code === null || code.includes(status) ? status : `${status}/${code}`;
}

/** For what a Job, a run or the audit log names: it may belong to another host, or be deleted. */
export function unlessGone(error: unknown): null {
  if (error instanceof HostError && (error.status === 404 || error.status === 403)) return null;
  throw error;
}
