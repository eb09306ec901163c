import { refusal } from "./admit-pod.ts";
import { podDefaults } from "./defaults.ts";
import { deleteObject } from "./delete.ts";
import { type Job, trackingFinalizer } from "./job.ts";
import { countedStatus, countPods, deadlineOf, isFinished, runningStatus, targetOf } from "./job-plan.ts";
import { hasCondition, randomSuffix, timestamp } from "./object.ts";
import { isOver, type Pod } from "./pod.ts";
import type { StoreEvent } from "./store.ts";
import type { World } from "./world.ts";

const ownerOf = (pod: Pod) => pod.metadata.ownerReferences?.find((ref) => ref.controller && ref.kind === "Job");

// Makes one pod per Job, counts how pods end, and says so in the Job's conditions, with the lags of the real one.
export class JobController {
  readonly #world: World;
  readonly #refusals = new Map<string, number>();
  readonly #batches = new Map<string, () => void>();
  readonly #startedAt = new Map<string, number>();
  readonly #lastFailure = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    world.store.subscribe((event) => this.#see(event));
  }

  #see(event: StoreEvent): void {
    const { timings } = this.#world;
    if (event.resource === "jobs") this.#seeJob(event);
    if (event.resource !== "pods") return;
    const pod = event.object as Pod;
    const owner = ownerOf(pod);
    const namespace = pod.metadata.namespace!;
    if (!owner) {
      if (event.type === "MODIFIED") this.#letGo(pod);
      return;
    }
    const before = event.previous as Pod | undefined;
    const readyChanged = hasCondition(before?.status.conditions, "Ready") !== hasCondition(pod.status.conditions, "Ready");
    if (event.type === "DELETED") this.#later(timings.garbage, namespace, owner.name);
    else if (pod.metadata.deletionTimestamp && !before?.metadata.deletionTimestamp) this.#later(timings.jobSoon, namespace, owner.name);
    else if (before && (isOver(pod) !== isOver(before) || readyChanged)) this.#batched(namespace, owner.name);
  }

  #seeJob(event: StoreEvent): void {
    const { namespace, name, uid } = event.object.metadata;
    if (event.type === "DELETED") {
      this.#refusals.delete(uid);
      this.#lastFailure.delete(uid);
      this.#startedAt.delete(uid);
      this.#world.timers.after(this.#world.timings.jobSoon, () => {
        for (const pod of this.#podsOf(event.object as Job)) this.#letGo(pod);
      });
    } else if (event.object.metadata.generation !== event.previous?.metadata.generation) {
      this.#later(this.#world.timings.jobSoon, namespace!, name);
    }
  }

  #later(ms: number, namespace: string, name: string): void {
    this.#world.timers.after(ms, () => this.#sync(namespace, name));
  }

  // Changes of a pod are waited for together, counted from the last one.
  #batched(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    this.#batches.get(key)?.();
    const run = (): void => {
      this.#batches.delete(key);
      this.#sync(namespace, name);
    };
    this.#batches.set(key, this.#world.timers.after(this.#world.timings.job, run));
  }

  #podsOf(job: Job): Pod[] {
    return this.#world.store.list("pods", job.metadata.namespace).filter((pod) => ownerOf(pod)?.uid === job.metadata.uid);
  }

  #sync(namespace: string, name: string): void {
    const { store, timers, timings } = this.#world;
    const found = store.get("jobs", namespace, name);
    if (!found) return;
    if (isFinished(found)) {
      this.#expire(found);
      return;
    }
    const job = this.#begin(found);
    const limit = deadlineOf(job, this.#startedAt.get(job.metadata.uid) ?? Number.POSITIVE_INFINITY);
    const target = targetOf(job, countPods(job, this.#podsOf(job)), limit !== undefined && Date.now() >= limit);
    if (target || job.spec.suspend) this.#stopPods(job, target?.reason === "DeadlineExceeded" || job.spec.suspend === true);
    else this.#ensurePod(job);
    const counts = countPods(job, this.#podsOf(job));
    store.update("jobs", { ...job, status: runningStatus(job, counts, target) });
    if (job.spec.suspend) for (const pod of counts.released) this.#letGo(pod);
    if (target || counts.newlyFailed.length > 0) timers.after(timings.jobPair, () => this.#count(namespace, name));
  }

  // Starts the Job's clock; a resumed Job's starts anew.
  #begin(job: Job): Job {
    const resumed = !job.spec.suspend && hasCondition(job.status.conditions, "Suspended");
    if (job.spec.suspend || (job.status.startTime && !resumed)) return job;
    const started = { ...job, status: { ...job.status, startTime: timestamp() } };
    this.#startedAt.set(job.metadata.uid, Date.now());
    const limit = deadlineOf(started, 0);
    if (limit !== undefined) this.#later(limit + 1, job.metadata.namespace!, job.metadata.name);
    return started;
  }

  #stopPods(job: Job, announce: boolean): void {
    for (const pod of countPods(job, this.#podsOf(job)).active) {
      deleteObject(this.#world.store, "pods", pod, {});
      if (announce) this.#say(job, "Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
    }
    if (job.spec.suspend && !hasCondition(job.status.conditions, "Suspended")) this.#say(job, "Normal", "Suspended", "Job suspended");
  }

  #ensurePod(job: Job): void {
    const { metadata, spec } = job;
    const counts = countPods(job, this.#podsOf(job));
    if (metadata.deletionTimestamp || counts.active.length > 0 || counts.newlyFailed.length > 0) return;
    const failed = job.status.failed ?? 0;
    const pause = failed === 0 ? 0 : this.#world.timings.podBackoff * 2 ** (failed - 1);
    const wait = (this.#lastFailure.get(metadata.uid) ?? 0) + pause - Date.now();
    if (wait > 0) {
      this.#later(wait + 1, metadata.namespace!, metadata.name);
      return;
    }
    const name = `${metadata.name.slice(0, 57)}-${randomSuffix()}`;
    const refused = refusal(this.#world, metadata.namespace!, name, spec.template.spec);
    if (refused !== undefined) {
      this.#retryCreate(job, refused);
      return;
    }
    this.#refusals.delete(metadata.uid);
    this.#world.store.create("pods", podOf(job, name));
    this.#say(job, "Normal", "SuccessfulCreate", `Created pod: ${name}`);
  }

  // At 0, 1, 3, 7 … times the unit, as the real controller's queue does.
  #retryCreate(job: Job, refused: string): void {
    const tries = this.#refusals.get(job.metadata.uid) ?? 0;
    this.#refusals.set(job.metadata.uid, tries + 1);
    this.#say(job, "Warning", "FailedCreate", `Error creating: ${refused}`);
    this.#later(this.#world.timings.createRetry * 2 ** tries, job.metadata.namespace!, job.metadata.name);
  }

  #count(namespace: string, name: string): void {
    const job = this.#world.store.get("jobs", namespace, name);
    if (!job || isFinished(job)) return;
    const counts = countPods(job, this.#podsOf(job));
    const status = countedStatus(job, counts);
    if (counts.newlyFailed.length > 0) this.#lastFailure.set(job.metadata.uid, Date.now());
    this.#world.store.update("jobs", { ...job, status });
    for (const pod of [...counts.newlyFailed, ...counts.newlySucceeded]) this.#letGo(pod);
    if (isFinished({ ...job, status })) this.#conclude({ ...job, status });
    else if (counts.newlyFailed.length > 0) this.#later(this.#world.timings.jobSoon, namespace, name);
  }

  #conclude(job: Job): void {
    const failed = job.status.conditions?.find((condition) => condition.type === "Failed");
    if (failed) this.#say(job, "Warning", failed.reason ?? "", failed.message ?? "");
    else this.#say(job, "Normal", "Completed", "Job completed");
    this.#expire(job);
  }

  // ttlSecondsAfterFinished; the real controller deletes in the foreground.
  #expire(job: Job): void {
    const ttl = job.spec.ttlSecondsAfterFinished;
    if (ttl === undefined || job.metadata.deletionTimestamp) return;
    const over = job.status.conditions?.find(({ type }) => type === "Complete" || type === "Failed")?.lastTransitionTime;
    this.#world.timers.after(Math.max(0, Date.parse(over!) + ttl * 1000 - Date.now()), () => {
      const current = this.#world.store.get("jobs", job.metadata.namespace, job.metadata.name);
      if (current?.metadata.uid === job.metadata.uid) deleteObject(this.#world.store, "jobs", current, { propagationPolicy: "Foreground" });
    });
  }

  #letGo(pod: Pod): void {
    if (!pod.metadata.finalizers?.includes(trackingFinalizer)) return;
    this.#world.store.change("pods", pod.metadata.namespace, pod.metadata.name, (draft) => {
      if (draft.metadata.uid !== pod.metadata.uid) return;
      const rest = draft.metadata.finalizers?.filter((name) => name !== trackingFinalizer) ?? [];
      if (rest.length > 0) draft.metadata.finalizers = rest;
      else delete draft.metadata.finalizers;
    });
  }

  #say(job: Job, type: "Normal" | "Warning", reason: string, message: string): void {
    this.#world.recorder.record(job, "job-controller", type, reason, message);
  }
}

function podOf(job: Job, name: string): Pod {
  const { name: jobName, uid, namespace } = job.metadata;
  const template = job.spec.template;
  const owner = { apiVersion: "batch/v1", kind: "Job", name: jobName, uid, controller: true, blockOwnerDeletion: true };
  const metadata = {
    ...template.metadata,
    name,
    generateName: `${jobName}-`,
    namespace: namespace!,
    ownerReferences: [owner],
    finalizers: [trackingFinalizer],
  };
  return podDefaults({ apiVersion: "v1", kind: "Pod", metadata, spec: template.spec, status: { phase: "Pending" } } as unknown as Pod);
}
