import type { JobView, PodView } from "../views.ts";

const maxRemembered = 2_000;

/** What the shared watch knows, by Job name. Remembers uids of Jobs that are gone: a run may ask about its own a moment too late. */
export class JobStore {
  readonly #jobs = new Map<string, JobView>();
  readonly #uids = new Set<string>();
  readonly #pods = new Map<string, Map<string, PodView>>();
  readonly #goneUids = new Set<string>();

  jobs(): readonly JobView[] {
    return [...this.#jobs.values()];
  }

  job(name: string): JobView | undefined {
    return this.#jobs.get(name);
  }

  pods(jobName: string): readonly PodView[] {
    return [...(this.#pods.get(jobName)?.values() ?? [])];
  }

  has(jobUid: string): boolean {
    return this.#uids.has(jobUid);
  }

  sawGo(jobUid: string): boolean {
    return this.#goneUids.has(jobUid);
  }

  putJob(job: JobView): void {
    this.#uids.add(job.uid);
    this.#jobs.set(job.name, job);
  }

  dropJob(job: JobView): void {
    this.#uids.delete(job.uid);
    if (this.#jobs.get(job.name)?.uid === job.uid) this.#jobs.delete(job.name);
    this.#goneUids.add(job.uid);
    if (this.#goneUids.size <= maxRemembered) return;
    const [oldest] = this.#goneUids;
    this.#goneUids.delete(oldest!);
  }

  putPod(pod: PodView): void {
    const pods = this.#pods.get(pod.jobName);
    if (pods) pods.set(pod.uid, pod);
    else this.#pods.set(pod.jobName, new Map([[pod.uid, pod]]));
  }

  dropPod(pod: PodView): void {
    const pods = this.#pods.get(pod.jobName);
    pods?.delete(pod.uid);
    if (pods?.size === 0) this.#pods.delete(pod.jobName);
  }
}
