import { randomBytes } from "node:crypto";
import { runnerText } from "@paperclip-k8s/runner/text";
import type { WakeUpAddress } from "@paperclip-k8s/runner/wake-up";
import { type Clock, systemClock } from "./clock.ts";
import { finish } from "./finish/finish.ts";
import { follow } from "./follow/follow.ts";
import { connect } from "./kube/connection.ts";
import type { ConnectOptions } from "./kube/credentials.ts";
import { runWatch } from "./kube/watch/run-watch.ts";
import { LiveRun } from "./live-run.ts";
import { takeLock } from "./lock/take-lock.ts";
import { jobName } from "./manifest/names.ts";
import { buildSubmission, type Submission } from "./manifest/submission.ts";
import { runtimeOf } from "./manifest/tools.ts";
import { initialState, type RunIdentity } from "./outcome/state.ts";
import { RECORDS_FORMAT, trustOf } from "./record-trust.ts";
import type { RunRequest } from "./request.ts";
import { abortReason, type RunContext, type RunIo } from "./run-context.ts";
import type { RunOutcome } from "./run-outcome.ts";
import { type SettledJobs, settledJobsOfProcess } from "./settled-jobs.ts";
import { start } from "./start/create-secret.ts";
import { prepare } from "./start/prepare.ts";
import { wakeUpAddress } from "./start/wake-up-address.ts";
import { logStatus } from "./status/log-status.ts";
import { type Timeouts, timeoutsFor } from "./timeouts.ts";
import { openVolume } from "./volume/volume.ts";

export interface EngineOptions {
  readonly clock?: Clock;
  /** Shorter ones, for tests. */
  readonly timeouts?: Partial<Timeouts>;
  /** How long a Job outlives its result: a caller that dies before it has stored the result finds it there again. */
  readonly lingerMs?: number;
  /** Aborted = the process was asked to end: its caller may discard what it is given from now on, so Jobs and files with a result stay for the next server. */
  readonly ending?: AbortSignal | null;
  /** The Jobs that count as settled by this server: the process's, unless a test has several servers in one process. */
  readonly settled?: SettledJobs;
  /** Tells runners another address for their wake-ups than the one that this server listens at: a relay's, for example. */
  readonly wakeUpAddress?: (own: WakeUpAddress) => WakeUpAddress;
}

/** Runs commands as Kubernetes Jobs, one Job per run. */
export interface Engine {
  /** Throws a RequestError or ApiError before anything is created; afterwards every end is an outcome. `timeouts`: those that differ for this run. */
  run(request: RunRequest, cluster: ConnectOptions, io: RunIo, timeouts?: Partial<Timeouts>): Promise<RunOutcome>;
  jobNameOf(request: RunRequest): string;
}

export function createEngine(options: EngineOptions = {}): Engine {
  return {
    jobNameOf: (request) => jobName(request.name),
    run: (request, cluster, io, timeouts) => runOnce(request, cluster, io, { ...options, timeouts: { ...options.timeouts, ...timeouts } }),
  };
}

/** What happens in each phase becomes facts; the first fact from which the reducer makes an outcome ends the run. */
const PHASES = [prepare, takeLock, start, follow];

async function runOnce(request: RunRequest, cluster: ConnectOptions, io: RunIo, options: EngineOptions): Promise<RunOutcome> {
  const { context, release } = await open(request, cluster, io, options);
  const { run } = context;
  try {
    for (const phase of PHASES) if (run.state.outcome === null) await phase(context);
    const outcome = await run.settled;
    await finish(context, outcome, options.lingerMs ?? 0, release);
    return outcome;
  } catch (error) {
    release();
    throw error;
  }
}

async function open(
  request: RunRequest,
  cluster: ConnectOptions,
  io: RunIo,
  { clock = systemClock, settled = settledJobsOfProcess(), timeouts, wakeUpAddress: change, ending = null }: EngineOptions,
): Promise<{ readonly context: RunContext; readonly release: () => void }> {
  const askedAt = clock.now();
  const submission = buildSubmission(request, randomBytes(12).toString("hex"), runnerText);
  const connection = await connect(cluster);
  // Before the watches: they would go on for ever if it threw.
  const volume = openVolume(request.output.root);
  const watch = runWatch(connection, request.namespace, request.selector);
  const run = new LiveRun(
    initialState(identityOf(request, submission), askedAt),
    { ...timeoutsFor(request, submission), ...timeouts },
    clock,
  );
  if (request.continues) run.observe({ kind: "orphan", job: null, mayWork: true });
  const leaving = AbortSignal.any([io.signal, ...(io.detach ? [io.detach] : [])]);
  const wakeUp = () => wakeUpAddress({ request, connection, volume, change });
  const shared = { connection, watch, volume, clock, settled, wakeUp };
  const context: RunContext = { ...shared, request, submission, run, io, leaving, provedEnds: new Set(), goneJobs: new Set(), ending };
  const stopListening = [logStatus(context), observeApi(context), observeLeaving(context)];
  const release = () => {
    for (const stop of stopListening) stop();
    volume.release();
  };
  return { context, release };
}

function identityOf(request: RunRequest, { nonce, jobName, files }: Submission): RunIdentity {
  return {
    runId: request.runId,
    runIdKey: request.keys.runId,
    adoptedFromKey: request.keys.adoptedFrom,
    nonce,
    namespace: request.namespace,
    jobName,
    jobUid: null,
    files,
    firstRun: request.runId,
    records: trustOf(request.recordSecret == null ? undefined : RECORDS_FORMAT, request.recordSecret, { firstRun: request.runId, nonce }),
    adopted: false,
    container: request.container.name,
    program: runtimeOf(request)[0],
    image: request.container.image,
    sidecars: (request.template?.sidecars ?? []).map(({ name }) => name),
  };
}

/** Subscribed from the start, so that both lists are under way while the Job is being created, and an API server that does not answer is noticed. */
function observeApi({ watch, run, submission }: RunContext): () => void {
  const subscription = watch.subscribe(submission.jobName, (fact) => {
    const isConnection = fact.kind === "api-lost" || (fact.kind === "api-back" && run.state.apiLostAt !== null);
    if (isConnection) run.observe(fact);
  });
  return () => subscription.close();
}

/** Turns the caller's signals into facts. */
function observeLeaving({ run, io: { signal, detach } }: RunContext): () => void {
  const onCancel = () => run.observe({ kind: "cancel-asked", reason: abortReason(signal) });
  const onDetach = () => detach && run.observe({ kind: "detach-asked", reason: abortReason(detach) });
  signal.addEventListener("abort", onCancel);
  detach?.addEventListener("abort", onDetach);
  if (signal.aborted) onCancel();
  if (detach?.aborted) onDetach();
  return () => {
    signal.removeEventListener("abort", onCancel);
    detach?.removeEventListener("abort", onDetach);
  };
}
