import type { Clock } from "../../clock.ts";
import { deferred } from "../../deferred.ts";
import type { JobView } from "../views.ts";
import type { RunWatch } from "./run-watch.ts";

/** The first view of a Job that is as wanted; null = none came in time, or the Job is gone. */
export async function awaitView(
  watch: RunWatch,
  { name, uid }: Pick<JobView, "name" | "uid">,
  isWanted: (job: JobView) => boolean,
  clock: Clock,
  timeoutMs: number,
): Promise<JobView | null> {
  const found = deferred<JobView | null>();
  const cancel = clock.after(timeoutMs, () => found.resolve(null));
  const subscription = watch.subscribe(
    name,
    (fact) => {
      if (fact.kind === "job" && isWanted(fact.job)) found.resolve(fact.job);
      if (fact.kind === "job-gone") found.resolve(null);
    },
    uid,
  );
  return found.promise.finally(() => {
    cancel();
    subscription.close();
  });
}
