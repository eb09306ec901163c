import type { JobView, PodView } from "../kube/views.ts";
import { hasRun } from "../outcome/pod-facts.ts";
import type { RunContext } from "../run-context.ts";

const LOOK_MS = 5000;

/** Whether a pod of a Job that is not followed yet has ever run, by the cluster and by the volume; null = one of them cannot tell. */
export async function hasBegun(context: RunContext, job: JobView, metaFile: string): Promise<boolean | null> {
  const pods = await podsOf(context, job);
  if (pods?.some((pod) => hasRun(pod, context.request.container.name))) return true;
  const wrote = await hasWritten(context, metaFile);
  if (wrote === true) return true;
  return pods === null || wrote === null ? null : false;
}

async function podsOf({ watch, clock }: RunContext, { name, uid }: JobView): Promise<readonly PodView[] | null> {
  const enough = new AbortController();
  const late = clock.sleep(LOOK_MS, enough.signal).then(() => false);
  let sees = await Promise.race([watch.ready.then(() => true), late]).catch(() => false);
  enough.abort();
  const pods = new Map<string, PodView>();
  const look = watch.subscribe(
    name,
    (fact) => {
      if (fact.kind === "pod") pods.set(fact.pod.uid, fact.pod);
      if (fact.kind === "api-lost") sees = false;
    },
    uid,
  );
  look.close();
  return sees ? [...pods.values()] : null;
}

/** The runner's first record comes before anything else it does. */
async function hasWritten({ volume }: RunContext, metaFile: string): Promise<boolean | null> {
  const tail = volume.tail(metaFile, { onBytes: () => {} });
  try {
    return (await tail.refresh(LOOK_MS)).delivered > 0;
  } catch {
    return null;
  } finally {
    tail.close();
  }
}
