import { randomBytes } from "node:crypto";
import { runnerText } from "@paperclip-k8s/runner/text";
import { type ConnectOptions, connect } from "../cluster/connection.ts";
import { runWatch } from "../cluster/run-watch.ts";
import { jobName } from "../manifest/names.ts";
import { buildSubmission } from "../manifest/submission.ts";
import { openVolume } from "../output/volume.ts";
import { follow } from "./follow.ts";
import type { RunContext, RunIo } from "./io.ts";
import { LiveRun } from "./live-run.ts";
import type { RunOutcome } from "./outcome.ts";
import { type Policy, policyFor } from "./policy.ts";
import type { RunRequest } from "./request.ts";
import { type RunClock, wallClock } from "./run-clock.ts";
import { settle } from "./settle.ts";
import { SettledJobs } from "./settled-jobs.ts";
import { initialState } from "./state.ts";
import { submit } from "./submit.ts";

export interface EngineOptions {
  readonly clock?: RunClock;
  /** Shorter patience, for tests. */
  readonly policy?: Partial<Policy>;
  /** How long a Job outlives its result: a caller that dies before it has stored the result finds it there again. */
  readonly lingerMs?: number;
}

/** Runs commands as Kubernetes Jobs, one Job per run. */
export interface Engine {
  /** Throws a RequestError or ApiError before anything is created; afterwards every end is an outcome. `patience`: where it differs for this run. */
  run(request: RunRequest, cluster: ConnectOptions, io: RunIo, patience?: Partial<Policy>): Promise<RunOutcome>;
  jobNameOf(request: RunRequest): string;
}

export function createEngine(options: EngineOptions = {}): Engine {
  const settled = new SettledJobs();
  return {
    jobNameOf: (request) => jobName(request.name),
    run: (request, cluster, io, patience) =>
      runOnce(request, cluster, io, { ...options, policy: { ...options.policy, ...patience }, settled }),
  };
}

/** The life of a run: submit, follow, settle, clean up. */
async function runOnce(
  request: RunRequest,
  cluster: ConnectOptions,
  io: RunIo,
  options: EngineOptions & { readonly settled: SettledJobs },
): Promise<RunOutcome> {
  const { settled, clock = wallClock } = options;
  const askedAt = clock.now();
  const submission = buildSubmission(request, randomBytes(12).toString("hex"), runnerText);
  const connection = await connect(cluster);
  // Before the watches: they would go on for ever if it threw.
  const volume = openVolume(request.output.root);
  const watch = runWatch(connection, request.namespace, request.selector);
  // Held from the start, so that both lists are under way while the Job is being created.
  const warm = watch.subscribe(submission.jobName, () => {});
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
  const run = new LiveRun(initialState(identity, askedAt), { ...policyFor(request, submission), ...options.policy }, clock);
  const context: RunContext = { request, submission, run, connection, watch, volume, clock, io, settled };
  const release = () => {
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
