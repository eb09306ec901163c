import type { JobView } from "../kube/views.ts";
import type { RunWatch } from "../kube/watch/run-watch.ts";
import { overlaps } from "./conflicting-jobs.ts";

const held = new WeakMap<RunWatch, Map<string, number>>();

/** A key from the moment its Job is asked for until the watch shows it: between the two, other runs here could not see it. */
export interface HeldKey {
  free(): void;
  /** The Job is made; the watch will show it. */
  freeWhenSeen(job: Pick<JobView, "name" | "uid">): void;
}

/** Null = another run here is just creating a Job whose key overlaps. Those of the same key are told apart by the Job's name. */
export function holdKey(watch: RunWatch, key: string | null): HeldKey | null {
  if (key === null) return { free: () => {}, freeWhenSeen: () => {} };
  const keys = held.get(watch) ?? new Map<string, number>();
  held.set(watch, keys);
  if ([...keys.keys()].some((other) => other !== key && overlaps(other, key))) return null;
  keys.set(key, (keys.get(key) ?? 0) + 1);
  const free = () => {
    const left = (keys.get(key) ?? 1) - 1;
    if (left > 0) keys.set(key, left);
    else keys.delete(key);
  };
  return { free, freeWhenSeen: (job) => whenSeen(watch, job, free) };
}

function whenSeen(watch: RunWatch, { name, uid }: Pick<JobView, "name" | "uid">, act: () => void): void {
  let done = false;
  const subscription = watch.subscribe(
    name,
    ({ kind }) => {
      if (done || (kind !== "job" && kind !== "job-gone")) return;
      done = true;
      act();
      queueMicrotask(() => subscription.close());
    },
    uid,
  );
}
