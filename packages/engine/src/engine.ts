import { randomBytes } from "node:crypto";
import { runnerText } from "@paperclip-k8s/runner/text";
import { type Clock, systemClock } from "./clock.ts";
import { settle } from "./finish/finish.ts";
import { FinishedJobs } from "./finish/finished-jobs.ts";
import { follow } from "./follow/follow.ts";
import { type ConnectOptions, connect } from "./kube/connection.ts";
import { runWatch } from "./kube/watch/run-watch.ts";
import { LiveRun } from "./live-run.ts";
import { jobName } from "./manifest/names.ts";
import { buildSubmission } from "./manifest/submission.ts";
import { initialState } from "./outcome/state.ts";
import type { RunRequest } from "./request.ts";
import type { RunContext, RunIo } from "./run-context.ts";
import type { RunOutcome } from "./run-outcome.ts";
import { submit } from "./start/start-run.ts";
import { logStatus } from "./status/log-status.ts";
import { type Timeouts, timeoutsFor } from "./timeouts.ts";
import { openVolume } from "./volume/volume.ts";

export interface EngineOptions {
  readonly clock?: Clock;
  /** Shorter patience, for tests. */
  readonly timeouts?: Partial<Timeouts>;
  /** How long a Job outlives its result: a caller that dies before it has stored the result finds it there again. */
  readonly lingerMs?: number;
}

/** Runs commands as Kubernetes Jobs, one Job per run. */
export interface Engine {
  /** Throws a RequestError or ApiError before anything is created; afterwards every end is an outcome. `patience`: where it differs for this run. */
  run(request: RunRequest, cluster: ConnectOptions, io: RunIo, patience?: Partial<Timeouts>): Promise<RunOutcome>;
  jobNameOf(request: RunRequest): string;
}

export function createEngine(options: EngineOptions = {}): Engine {
  const settled = new FinishedJobs();
  return {
    jobNameOf: (request) => jobName(request.name),
    run: (request, cluster, io, patience) =>
      runOnce(request, cluster, io, { ...options, timeouts: { ...options.timeouts, ...patience }, settled }),
  };
}

/** The life of a run: submit, follow, settle, clean up. */
async function runOnce(
  request: RunRequest,
  cluster: ConnectOptions,
  io: RunIo,
  options: EngineOptions & { readonly settled: FinishedJobs },
): Promise<RunOutcome> {
  const { settled, clock = systemClock } = options;
  const askedAt = clock.now();
  const submission = buildSubmission(request, randomBytes(12).toString("hex"), runnerText);
  const connection = await connect(cluster);
  // Before the watches: they would go on for ever if it threw.
  const volume = openVolume(request.output.root);
  const watch = runWatch(connection, request.namespace, request.selector);
  const identity = {
    runId: request.runId,
    runIdKey: request.keys.runId,
    adoptedFromKey: request.keys.adoptedFrom,
    nonce: submission.nonce,
    namespace: request.namespace,
    jobName: submission.jobName,
    jobUid: null,
    files: submission.files,
    firstRun: request.runId,
    adopted: false,
    container: request.container.name,
    image: request.container.image,
  };
  const run = new LiveRun(initialState(identity, askedAt), { ...timeoutsFor(request, submission), ...options.timeouts }, clock);
  const context: RunContext = { request, submission, run, connection, watch, volume, clock, io, settled };
  const stopStatus = logStatus(context);
  // Held from the start, so that both lists are under way while the Job is being created, and an API server that does not answer is noticed.
  const warm = watch.subscribe(submission.jobName, (fact) => {
    const isConnection = fact.kind === "api-lost" || (fact.kind === "api-back" && run.state.apiLostAt !== null);
    if (isConnection) run.observe(fact);
  });
  const release = () => {
    stopStatus();
    warm.close();
    volume.release();
  };
  try {
    await submit(context);
    const outcome = run.state.outcome ?? (await follow(context));
    await settle(context, outcome, { lingerMs: options.lingerMs ?? 0, release });
    return outcome;
  } catch (error) {
    release();
    throw error;
  }
}
