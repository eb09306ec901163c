import type { FoundEnd } from "@paperclip-k8s/engine";
import { isLost } from "@paperclip-k8s/paperclip/runs";
import { type AgentEnd, type EndedJob, howEnded, type JobState, stateByRecord } from "../cluster/job-state.ts";
import type { FoundJob } from "../cluster/jobs.ts";
import type { HeldIssue } from "./find/held-issues.ts";
import type { RunRecord, StoredResult } from "./find/run-record.ts";

/** What shows that a held run's agent has stopped, best first. */
export type Proof =
  | { readonly kind: "host's record"; readonly run: RunRecord; readonly result: StoredResult }
  | { readonly kind: "job"; readonly found: FoundJob; readonly state: Extract<JobState, { kind: "ended" | "never ran" }> }
  | { readonly kind: "kept end"; readonly state: EndedJob & { readonly end: AgentEnd } }
  /** Nothing shows it but an operator who has looked. */
  | { readonly kind: "operator"; readonly statement: string };

type Finding =
  | { readonly proof: Proof; readonly summary: string }
  /** Nothing may be stated to the host: the agent works on, or nobody knows. */
  | { readonly proof: null; readonly summary: string; readonly alive: boolean };

interface ProofFacts {
  /** Jobs of the run, or the one it was to take over. */
  readonly jobs: readonly FoundJob[];
  /** The end record of a run whose Job is gone. */
  readonly lastEnd: FoundEnd | null;
  /** An operator's own sentence on why the agent has stopped. */
  readonly statement: string | null;
}

/** A Job that lives outweighs everything else: then nothing has stopped, whatever anybody has recorded. */
export function proofOf(issue: HeldIssue, { jobs, lastEnd, statement }: ProofFacts): Finding {
  const living = jobs.find(({ state }) => state.kind === "alive");
  if (living !== undefined) return { proof: null, summary: `alive: ${whyOf(living)}; ${placeOf(living)}`, alive: true };
  const found = byHost(issue.run) ?? byJob(jobs) ?? byKeptEnd(lastEnd) ?? nothing;
  if (found.proof !== null || statement === null) return found;
  return { proof: { kind: "operator", statement }, summary: `${found.summary}; you say that it has stopped` };
}

const nothing: Finding = {
  proof: null,
  summary: "unknown: no Job of this run is found, nor its records; --namespace, --data?",
  alive: false,
};

/** Ends after which our adapter has seen that nothing runs any more, if its result names what it saw. */
const ENDED: ReadonlySet<string> = new Set(["exited", "timed-out", "killed", "deleted"]);
/** Ends of a run that had nothing to stop. */
const NOT_BEGUN: ReadonlySet<string> = new Set(["never-started", "blocked"]);

/** The result that the host has stored. That of a run which left its Job to the next one says nothing about the Job. */
function byHost(run: RunRecord): Finding | null {
  const { result } = run;
  if (result === null || isLost(run) || !showsEnd(result)) return null;
  return { proof: { kind: "host's record", run, result }, summary: `ended: ${howRecorded(run, result)}; the host has its result` };
}

function showsEnd({ outcome, proof, notStarted, acknowledged }: StoredResult): boolean {
  if (notStarted || acknowledged) return true;
  return outcome !== null && (NOT_BEGUN.has(outcome) || (ENDED.has(outcome) && proof !== null && proof !== "none"));
}

const WORDS: Readonly<Record<string, string>> = {
  exited: "the agent exited",
  "timed-out": "the agent was ended at its time limit",
  killed: "the agent was killed",
  deleted: "the agent was stopped, because its Job or pod was deleted",
  cancelled: "the agent was cancelled",
};

/** "the agent exited with code 1", in the words of the host's record. */
export function howRecorded({ exitCode }: Pick<RunRecord, "exitCode">, { outcome, notStarted }: StoredResult): string {
  if (notStarted || outcome === null || NOT_BEGUN.has(outcome)) return "the agent was not started";
  const what = WORDS[outcome] ?? "the agent ended";
  return outcome === "exited" && exitCode !== null ? `${what} with code ${exitCode}` : what;
}

function byJob(jobs: readonly FoundJob[]): Finding | null {
  const found = jobs.find(({ state }) => state.kind === "unknown") ?? jobs[0];
  if (found === undefined) return null;
  const { state } = found;
  const place = placeOf(found);
  if (!found.ours) return { proof: null, summary: `unknown: ${place} was not started by this version; look at it by hand`, alive: false };
  if (state.kind === "ended") return { proof: { kind: "job", found, state }, summary: `ended: the agent ${howEnded(state)}; ${place}` };
  if (state.kind === "never ran") return { proof: { kind: "job", found, state }, summary: `never ran: ${state.why}; ${place}` };
  return { proof: null, summary: `unknown: ${state.why}; ${place}`, alive: false };
}

function byKeptEnd(lastEnd: FoundEnd | null): Finding | null {
  const record = lastEnd?.record ?? null;
  const ends = lastEnd?.proved ? { endRecord: record, claimed: null } : { endRecord: null, claimed: record };
  const state = stateByRecord(ends);
  if (state.kind === "ended")
    return { proof: { kind: "kept end", state }, summary: `ended: the agent ${howEnded(state)}; its Job is gone` };
  return record === null || state.kind !== "unknown" ? null : { proof: null, summary: `unknown: ${state.why}`, alive: false };
}

const placeOf = ({ namespace, job }: FoundJob): string => `${namespace}/${job.name}`;
const whyOf = ({ state }: FoundJob): string => (state.kind === "alive" ? state.why : "");
