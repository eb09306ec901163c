import type { ClusterFact, JobView, PodView } from "../views.ts";
import type { ObjectCache } from "./object-cache.ts";

export interface Subscription {
  close(): void;
}

/** One run's part of the shared watch: decides which facts about its Job's name are about its Job. */
export class Subscriber {
  readonly jobName: string;
  readonly notify: (fact: ClusterFact) => void;
  /** Of a Job that is known to exist: only it and its pods count, also if another Job had the name before or has it later. */
  readonly #uid: string | null;
  readonly #listsBefore: number;
  #seenUid: string | null = null;
  #goneUid: string | null = null;

  constructor(jobName: string, uid: string | null, listsBefore: number, notify: (fact: ClusterFact) => void) {
    this.jobName = jobName;
    this.#uid = uid;
    this.#listsBefore = listsBefore;
    this.notify = notify;
  }

  /** Reports what the caches hold. */
  catchUp(jobs: ObjectCache<JobView>, pods: ObjectCache<PodView>): void {
    if (this.#uid !== null && jobs.wasDeleted(this.#uid)) this.#gone(this.#uid);
    const job = jobs.ofJob(this.jobName).at(-1);
    if (job) this.job(job);
    for (const pod of pods.ofJob(this.jobName)) this.pod(pod);
  }

  /** Its Job is known to exist, but neither its presence nor its end was seen. */
  get isUnseen(): boolean {
    return this.#uid !== null && this.#uid !== this.#seenUid && this.#uid !== this.#goneUid;
  }

  job(job: JobView): void {
    if (this.#uid !== null && job.uid !== this.#uid) return;
    this.#seenUid = job.uid;
    // Back, as one that had lost its labels: its end is still to be reported.
    this.#goneUid = null;
    this.notify({ kind: "job", job });
  }

  /** Only for a Job that was reported or is known to be this run's. */
  jobGone(uid: string): void {
    if (uid === (this.#uid ?? this.#seenUid)) this.#gone(uid);
  }

  pod(pod: PodView): void {
    if (this.#isOwn(pod)) this.notify({ kind: "pod", pod });
  }

  podGone(pod: PodView): void {
    if (this.#isOwn(pod)) this.notify({ kind: "pod-gone", pod });
  }

  /** A list that began before the Job was known to exist proves nothing about it. */
  listed(list: number, jobs: ObjectCache<JobView>): void {
    if (this.#uid !== null && list > this.#listsBefore && !jobs.has(this.#uid)) this.#gone(this.#uid);
  }

  #isOwn(pod: PodView): boolean {
    return this.#uid === null || pod.jobUid === this.#uid;
  }

  #gone(uid: string): void {
    if (this.#goneUid === uid) return;
    this.#goneUid = uid;
    this.notify({ kind: "job-gone" });
  }
}
