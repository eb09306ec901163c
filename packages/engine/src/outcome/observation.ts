import type { EndRecord, StartRecord, StateRecord } from "@paperclip-k8s/runner";
import type { EventView, JobView, PodView } from "../kube/views.ts";
import type { OutcomeKind } from "../run-outcome.ts";

/** One fact about a run, with the time (ms) at which this server learned it. */
export type Observation = { readonly at: number } & Fact;

export type Fact =
  /** The submit ended without a Job of this run: refused, blocked or cancelled. */
  | { readonly kind: "not-submitted"; readonly why: OutcomeKind }
  | { readonly kind: "job"; readonly job: JobView }
  /** The API server says that the Job object is not there (any more). */
  | { readonly kind: "job-gone" }
  | { readonly kind: "pod"; readonly pod: PodView }
  | { readonly kind: "pod-gone"; readonly pod: PodView }
  | { readonly kind: "events"; readonly events: readonly EventView[] }
  /** The API server cannot be reached, does not answer or refuses, or is back: a fact of its own, never "gone". `forPeople`: the error can be logged as it is. */
  | { readonly kind: "api-lost"; readonly error: string; readonly forPeople?: boolean }
  | { readonly kind: "api-back" }
  | { readonly kind: "start-record"; readonly record: StartRecord }
  | { readonly kind: "cli-started" }
  | { readonly kind: "state-record"; readonly record: StateRecord }
  | { readonly kind: "end-record"; readonly record: EndRecord }
  /** Bytes of the output file delivered so far. */
  | { readonly kind: "output"; readonly bytes: number }
  /** A fresh look at both files, made after the run was known to be over, found nothing new. */
  | { readonly kind: "drained"; readonly bytes: number }
  /** The volume does not answer. */
  | { readonly kind: "output-stalled"; readonly error: string }
  | { readonly kind: "output-back" }
  /** A fact of this kind could not be folded: it is dropped, and nothing that follows can be relied on. */
  | { readonly kind: "data-unreadable"; readonly what: Fact["kind"]; readonly error: string }
  | { readonly kind: "cancel-asked"; readonly reason: string }
  | { readonly kind: "detach-asked"; readonly reason: string }
  | { readonly kind: "tick" };
