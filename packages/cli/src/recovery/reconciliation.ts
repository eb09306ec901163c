import { type AgentEnd, type EndedJob, howEnded, type JobState } from "../cluster/job-state.ts";

/** What the host gets about a stopped run, as its API takes it. */
export interface Reconciliation {
  readonly actionOutcome: "completed" | "not_performed" | "mixed";
  readonly evidence: string;
}

export interface Subject {
  readonly runId: string;
  readonly namespace: string;
  readonly jobName: string;
  readonly jobUid: string;
}

/** What is proved about a run that has ended; null = nothing. Only an agent that ended by itself with exit code 0 is called completed. */
export function reconcile(state: JobState, subject: Subject, now: Date): Reconciliation | null {
  const job = `Kubernetes Job ${subject.namespace}/${subject.jobName} (uid ${subject.jobUid}) of run ${subject.runId}`;
  const read = `Read by paperclip-k8s at ${now.toISOString()}.`;
  if (state.kind === "never ran")
    return { actionOutcome: "not_performed", evidence: `${job}: the agent did not start, ${state.why}. ${read}` };
  if (state.kind !== "ended") return null;
  const { end } = state;
  const place = end.pod === null ? "" : ` in pod ${end.pod}${end.node === null ? "" : ` on node ${end.node}`}`;
  const evidence = `${job} has ended: the agent${place} ${howEnded(state)}${span(state)}.${output(state)} Proof: ${end.proof}. ${read}`;
  return { actionOutcome: isComplete(end) ? "completed" : "mixed", evidence };
}

/** A CLI may exit with 0 because it was asked to stop. */
const isComplete = ({ exitCode, cause }: AgentEnd): boolean =>
  exitCode === 0 && (cause === null || cause === "exit" || cause === "final-line");

function span({ end: { startedAt, finishedAt } }: EndedJob): string {
  const from = startedAt === null ? "" : `, started ${startedAt}`;
  return `${from}${finishedAt === null ? "" : `, finished ${finishedAt}`}`;
}

function output({ end: { bytes, lines } }: EndedJob): string {
  return bytes === null ? "" : ` It wrote ${bytes} bytes of output${lines === null ? "" : ` in ${lines} lines`}.`;
}
