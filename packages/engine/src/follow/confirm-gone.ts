import { lookAgain, lookAgainAtPod } from "../kube/calls.ts";
import type { ClusterFact } from "../kube/views.ts";
import { log, type RunContext } from "../run-context.ts";

/** How often an object that the watch no longer shows is looked at by its name. */
const LOOK_MS = 10_000;

type Gone = Extract<ClusterFact, { kind: "job-gone" | "pod-gone" }>;

export interface ConfirmedFacts {
  readonly listen: (fact: ClusterFact) => void;
  close(): void;
}

/**
 * The facts of a run's Job and pod, of which "gone" counts only if the object is not there under its name: one whose labels somebody has
 * changed leaves the watch in the same way as one that was deleted. It is then looked at by its name until it is gone, or seen again.
 */
export function confirmGone(context: RunContext, observe: (fact: ClusterFact) => void): ConfirmedFacts {
  const { connection, request, run, clock } = context;
  const closed = new AbortController();
  const looking = new Map<Gone["kind"], AbortController>();

  /** The object as it is now; null = it is gone. */
  const look = async (fact: Gone): Promise<ClusterFact | null> => {
    if (fact.kind === "job-gone") {
      const { jobName: name, jobUid } = run.state.identity;
      const job = await lookAgain(connection, request.namespace, { name, uid: jobUid ?? "" });
      return job && { kind: "job", job };
    }
    const pod = await lookAgainAtPod(connection, request.namespace, fact.pod);
    return pod && { kind: "pod", pod };
  };

  const confirm = async (fact: Gone): Promise<void> => {
    const found = new AbortController();
    looking.set(fact.kind, found);
    const over = AbortSignal.any([closed.signal, found.signal]);
    for (let logged = false; !over.aborted; await clock.sleep(LOOK_MS, over)) {
      // An API server that does not answer confirms nothing.
      const seen = await look(fact).catch(() => undefined);
      if (over.aborted) return;
      if (seen === null) {
        looking.delete(fact.kind);
        return observe(fact);
      }
      if (seen === undefined) continue;
      if (!logged) log(context, "warning", hiddenText(fact, run.state.identity.jobName));
      logged = true;
      observe(seen);
    }
  };

  return {
    listen: (fact) => {
      const kind = fact.kind === "job" ? "job-gone" : fact.kind === "pod" ? "pod-gone" : null;
      if (kind !== null) {
        looking.get(kind)?.abort();
        looking.delete(kind);
      }
      const isGone = fact.kind === "job-gone" || fact.kind === "pod-gone";
      if (!isGone || wasBeingDeleted(context, fact)) return observe(fact);
      if (!looking.has(fact.kind)) void confirm(fact);
    },
    close: () => closed.abort(),
  };
}

/** Its deletion was seen before its end. */
function wasBeingDeleted({ run: { state } }: RunContext, fact: Gone): boolean {
  return (fact.kind === "job-gone" ? state.job?.deletedAt : (fact.pod.deletedAt ?? state.pod?.deletedAt)) != null;
}

const hiddenText = ({ kind }: Gone, job: string): string =>
  `${kind === "job-gone" ? `Job ${job}` : `the pod of Job ${job}`} is there, but no longer has the labels by which it is found: somebody has changed them. ` +
  "It is looked at by its name";
