import { runnerText } from "@paperclip-k8s/runner/text";
import type { JobView } from "../kube/views.ts";
import { createJob } from "../kube/writes.ts";
import { JOB_NAMES } from "../manifest/names.ts";
import { buildSubmission } from "../manifest/submission.ts";
import { conflictText } from "../outcome/admission.ts";
import type { Adoption } from "../outcome/observation.ts";
import { trustOf } from "../record-trust.ts";
import { removablePaths } from "../request.ts";
import { retryCreate, unlessLeaving, withTimeout } from "../retry.ts";
import { log, type RunContext, reportJob } from "../run-context.ts";
import {
  type Adopted,
  askAbout,
  conflictFacts,
  conflictingJob,
  liveOwners,
  lockOwnerOf,
  namesake,
  type Problem,
  problemEnd,
} from "./conflicting-jobs.ts";
import { proveEnd } from "./ended-jobs.ts";
import { failedCreate } from "./failed-create.ts";
import { inTurn } from "./in-turn.ts";
import { adopt } from "./take-over.ts";
import { carryOut, isRetained, LockWaits, waitForLock } from "./wait-for-lock.ts";

/** As long as a create is tried. */
const LIST_TIMEOUT_MS = 120_000;

/** How trying for the lock ended; `left`: the caller has asked to leave, and there is no Job of this run. */
type LockEnd = Adopted | Problem | { readonly kind: "created"; readonly job: JobView } | { readonly kind: "left" };

/**
 * Creates the run's Job, or adopts the one that it continues. The Job's name is the lock: a create that is answered with 409 waits until the Job
 * of that name is gone, or adopts it. A live Job under another name whose key overlaps is treated in the same way.
 */
export async function takeLock(context: RunContext): Promise<void> {
  const { run } = context;
  const end = await tryForLock(context);
  if (end.kind === "created") accept(context, end.job);
  else if (end.kind === "adopted") takeOver(context, end.adoption);
  else if (end.kind === "problem") run.observe({ kind: "start-problem", problem: end.problem });
  else run.observe({ kind: "left-before-job" });
}

async function tryForLock(context: RunContext): Promise<LockEnd> {
  const { run, clock, leaving } = context;
  const begun = clock.now();
  const waits = new LockWaits();
  const { notAdoptable } = waits;
  const listed =
    (await waitForList(context)) ?? (await decideAmongSeveral(context, notAdoptable)) ?? (await settleListed(context, notAdoptable));
  if (listed !== null) return listed;
  while (!leaving.aborted) {
    await freeName(context);
    const tried = await inTurn(context, () => lookAndCreate(context, notAdoptable));
    if (tried.kind !== "conflict") return tried;
    const end = await waitForLock(context, tried.job, begun + run.timeouts.admissionMost, waits);
    if (end.kind === "timeout")
      return problemEnd({ kind: "lock-taken", by: conflictFacts(context, tried.job), waitedMs: clock.now() - begun, decision: null });
    if (end.kind === "adopted" || end.kind === "problem") return end;
    if (end.kind === "retained") takeNextName(context);
  }
  return { kind: "left" };
}

/** Only a run that has seen all Jobs knows whether its key is free. */
async function waitForList(context: RunContext): Promise<Problem | null> {
  const { request, watch, leaving } = context;
  if (request.exclusive === null) return null;
  const listed = watch.listed.then(() => true);
  const inTime = await withTimeout(context, LIST_TIMEOUT_MS, listed).catch(() => null);
  return inTime || leaving.aborted ? null : problemEnd({ kind: "jobs-not-listed", waitedMs: LIST_TIMEOUT_MS });
}

/**
 * Several live Jobs hold the run's key, as after a change of its concurrency. One that must not be adopted wins over one that may be, because both
 * would work on the same task; those that are left to themselves are named. Null = there are not several, or none of them can be adopted yet.
 */
async function decideAmongSeveral(context: RunContext, notAdoptable: Set<string>): Promise<LockEnd | null> {
  const live = liveOwners(context);
  if (live.length < 2) return null;
  const asked = [];
  for (const job of live) {
    const owner = lockOwnerOf(context, job);
    asked.push({ job, owner, decision: await askAbout(context, owner) });
  }
  // The same run was started again: the Job is its own, whatever becomes of the others.
  const own = asked.find(({ owner }) => owner.runId === context.request.runId);
  const blocking = own === undefined ? asked.find(({ decision }) => decision.kind === "blocked") : undefined;
  if (blocking?.decision.kind === "blocked")
    return problemEnd({ kind: "lock-taken", by: conflictFacts(context, blocking.job), waitedMs: 0, decision: blocking.decision });
  const chosen = (own ?? asked.find(({ decision }) => decision.kind === "adopt"))?.job;
  if (chosen === undefined) return null;
  const result = await adopt(context, chosen);
  if (result.kind === "denied") notAdoptable.add(chosen.uid);
  if (result.kind !== "adopted") return result.kind === "problem" ? result : null;
  const others = live.filter(({ uid }) => uid !== chosen.uid).map((job) => conflictText(conflictFacts(context, job)));
  log(context, "warning", `besides the adopted Job these are live and are left alone: ${others.join(", ")}`);
  return result;
}

/** The Job of the run's name is kept for debugging, so this run's Job gets the next of the key's names. */
function takeNextName(context: RunContext): void {
  const { request, submission } = context;
  context.submission = buildSubmission(request, submission.nonce, runnerText, submission.nthName + 1);
  log(context, "info", `Job ${submission.jobName} is retained; this run's Job is ${context.submission.jobName}`);
}

/** The Job of the run before, whose result this process has given, is deleted first: a create that is answered with 409 would cost more. */
async function freeName(context: RunContext): Promise<void> {
  const { watch, settled, leaving } = context;
  for (;;) {
    const job = watch.jobNamed(context.submission.jobName);
    const ended = job === null || job.deletedAt !== null ? undefined : settled.jobs.get(job.uid);
    if (job === null || ended === undefined) return;
    if (!isRetained(context, job)) return void (await unlessLeaving(leaving, ended.free()));
    if (context.submission.nthName >= JOB_NAMES) return;
    takeNextName(context);
  }
}

/**
 * After a restart hundreds of Jobs are there. The one that this run continues is adopted as the list shows it, and one whose end is on record is
 * removed, which saves a create that fails. Null = there is none, or the list is out of date: the create decides.
 */
async function settleListed(context: RunContext, notAdoptable: Set<string>): Promise<LockEnd | null> {
  const { request, submission, watch, settled } = context;
  const job = request.exclusive === null ? null : watch.jobNamed(submission.jobName);
  if (job === null || job.deletedAt !== null || settled.jobs.has(job.uid)) return null;
  const ask = () => askAbout(context, lockOwnerOf(context, job));
  let decision = await ask();
  // Only a run that would have to wait needs the proof.
  if (decision.kind === "wait" && (await proveEnd(context, job))) decision = await ask();
  if (decision.kind !== "adopt" && decision.kind !== "remove") return null;
  const end = await carryOut(context, job, decision, notAdoptable);
  if (end?.kind === "retained") takeNextName(context);
  return end?.kind === "adopted" || end?.kind === "problem" ? end : null;
}

type Tried = LockEnd | { readonly kind: "conflict"; readonly job: JobView };

async function lookAndCreate(context: RunContext, notAdoptable: ReadonlySet<string>): Promise<Tried> {
  const { request, leaving } = context;
  const other = request.exclusive === null ? null : await conflictingJob(context, notAdoptable);
  if (leaving.aborted) return { kind: "left" };
  // All Jobs were looked at: from here on only those count that may be this run's to take over.
  context.run.observe({ kind: "orphan", job: null, mayWork: false });
  const conflict = other ?? (request.adoptsOnly ? namesake(context) : null);
  if (conflict !== null) return { kind: "conflict", job: conflict };
  return request.adoptsOnly ? problemEnd({ kind: "nothing-to-adopt" }) : create(context);
}

async function create(context: RunContext): Promise<Tried> {
  const { request, submission, connection, run } = context;
  run.observe({ kind: "lock-free" });
  try {
    const result = await retryCreate(context, "the Job cannot be created", (signal) =>
      createJob(connection, request.namespace, submission.job(), { signal }),
    );
    const job = "created" in result ? result.created : result.existing;
    const isOurs = "created" in result || job.annotations[request.keys.nonce] === submission.nonce;
    return { kind: isOurs ? "created" : "conflict", job };
  } catch (error) {
    return failedCreate(context, error);
  }
}

function accept(context: RunContext, job: JobView): void {
  const { run, request, submission } = context;
  run.observe({ kind: "job-accepted", job });
  reportJob(context, null);
  const limit = request.limits.timeoutSec > 0 ? `time limit ${request.limits.timeoutSec} s` : "no time limit";
  const deadline = `the Job ends after ${span(submission.deadlineSeconds)} at the latest`;
  log(context, "info", `Job ${request.namespace}/${job.name} accepted, ${limit}; ${deadline}`);
}

const span = (seconds: number): string => (seconds < 2 * 3600 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`);

function takeOver(context: RunContext, adoption: Adoption): void {
  const { run, request, volume, submission } = context;
  const records = trustOf(adoption.job.annotations[request.keys.records], request.recordSecret, adoption);
  run.observe({ kind: "job-adopted", adoption, records });
  reportJob(context, adoption);
  const { job, fromRun } = adoption;
  log(context, "info", `adopted Job ${request.namespace}/${job.name} of run ${fromRun}; its output is read from the beginning`);
  // An adopted Job writes to files of its own, so those that were made for this run are not needed.
  if (adoption.files.output !== submission.files.output) volume.remove(removablePaths(submission.files)).catch(() => {});
}
