/** A Job whose result this process has given to its caller. */
export interface SettledJob {
  /** Nothing of it can write any more: it holds no key. */
  readonly ended: boolean;
  /** Deletes one that lingers; resolves when the API server has answered, whatever the answer. */
  free(): Promise<void>;
}

/** The settled Jobs by uid: none of them is adopted here. Plain data, since two loads of this code may share it. */
export interface SettledJobs {
  readonly jobs: Map<string, SettledJob>;
  /** Called with the uid of each Job that is added. */
  readonly listeners: Set<(uid: string) => void>;
}

export const createSettledJobs = (): SettledJobs => ({ jobs: new Map(), listeners: new Set() });

/** A Job whose result was given is deleted within minutes, if it is deleted at all. */
const MOST_SETTLED = 1000;
/** The number changes with the form of the data, so that two versions never share it. */
const SHARED = Symbol.for("job-engine.settled-jobs.1");

/** One for the whole process: a host that reloads an adapter, or has several, starts the next run of a task with another engine. */
export function settledJobsOfProcess(): SettledJobs {
  const shared = globalThis as { [SHARED]?: SettledJobs };
  shared[SHARED] ??= createSettledJobs();
  return shared[SHARED];
}

export function addSettled({ jobs, listeners }: SettledJobs, uid: string, job: SettledJob): void {
  jobs.set(uid, job);
  const [oldest] = jobs.keys();
  if (jobs.size > MOST_SETTLED && oldest !== undefined) jobs.delete(oldest);
  for (const listener of [...listeners]) listener(uid);
}
