import type { Fact } from "../../outcome/observation.ts";
import type { JobView, PodView } from "../views.ts";
import type { JobStore } from "./job-store.ts";

/** The facts the watch of the cluster can tell. */
export type ClusterFact = Extract<Fact, { kind: "job" | "job-gone" | "pod" | "pod-gone" | "api-lost" | "api-back" }>;

export interface Subscription {
  /**
   * The Job with this uid exists: from now on only it and its pods count, also if another Job bore the name before or bears it later.
   * When a complete list that starts later does not hold it, it is gone.
   */
  created(uid: string): void;
  close(): void;
}

/** One run's ear: decides which facts about its Job's name are about its Job. */
export class Subscriber {
  readonly jobName: string;
  readonly #tell: (fact: ClusterFact) => void;
  #uid: string | null = null;
  #seenUid: string | null = null;
  #goneUid: string | null = null;
  #createdAfterList = 0;

  constructor(jobName: string, tell: (fact: ClusterFact) => void) {
    this.jobName = jobName;
    this.#tell = tell;
  }

  created(uid: string, store: JobStore, listsStarted: number): void {
    if (this.#uid === uid) return;
    this.#uid = uid;
    this.#createdAfterList = listsStarted;
    if (store.sawGo(uid)) this.#gone(uid);
  }

  /** Its Job exists by its own word, but neither its presence nor its end was seen. */
  get waitsForSight(): boolean {
    return this.#uid !== null && this.#uid !== this.#seenUid && this.#uid !== this.#goneUid;
  }

  job(job: JobView): void {
    if (this.#uid !== null && job.uid !== this.#uid) return;
    this.#seenUid = job.uid;
    this.#tell({ kind: "job", job });
  }

  /** Only for a Job this run was told of, or has created: anything else was never its own. */
  jobGone(uid: string): void {
    if (uid === (this.#uid ?? this.#seenUid)) this.#gone(uid);
  }

  pod(pod: PodView): void {
    if (this.#mine(pod)) this.#tell({ kind: "pod", pod });
  }

  podGone(pod: PodView): void {
    if (this.#mine(pod)) this.#tell({ kind: "pod-gone", pod });
  }

  /** A list that began before the Job was created proves nothing about it. */
  listed(list: number, store: JobStore): void {
    if (this.#uid !== null && list > this.#createdAfterList && !store.has(this.#uid)) this.#gone(this.#uid);
  }

  tell(fact: ClusterFact): void {
    this.#tell(fact);
  }

  #mine(pod: PodView): boolean {
    return this.#uid === null || pod.jobUid === this.#uid;
  }

  #gone(uid: string): void {
    if (this.#goneUid === uid) return;
    this.#goneUid = uid;
    this.#tell({ kind: "job-gone" });
  }
}
