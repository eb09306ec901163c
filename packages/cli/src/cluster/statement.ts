import type { Ended, Verdict } from "./verdict.ts";

/** What an operator states about a stopped run, in the words the host takes. */
export interface Statement {
  readonly actionOutcome: "completed" | "not_performed" | "mixed";
  readonly evidence: string;
}

export interface Subject {
  readonly runId: string;
  readonly namespace: string;
  readonly jobName: string;
  readonly jobUid: string;
}

/** True sentences about a run that is over; null = nothing that is proved. Only an agent that ended by itself with exit code 0 is called completed. */
export function statementOf(found: Verdict, subject: Subject, now: Date): Statement | null {
  const job = `Kubernetes Job ${subject.namespace}/${subject.jobName} (uid ${subject.jobUid}) of run ${subject.runId}`;
  const read = `Read by paperclip-k8s at ${now.toISOString()}.`;
  if (found.state === "never ran")
    return { actionOutcome: "not_performed", evidence: `${job}: the agent did not start, ${found.why}. ${read}` };
  if (found.state !== "over") return null;
  const { end } = found;
  const place = end.pod === null ? "" : ` in pod ${end.pod}${end.node === null ? "" : ` on node ${end.node}`}`;
  const evidence = `${job} is over: the agent${place} ${howEnded(found)}${span(found)}.${output(found)} Proof: ${end.proof}. ${read}`;
  return { actionOutcome: isComplete(end) ? "completed" : "mixed", evidence };
}

/** A CLI may well exit with 0 when it is told to stop. */
const isComplete = ({ exitCode, cause }: Ended): boolean =>
  exitCode === 0 && (cause === null || cause === "exit" || cause === "final-line");

const CAUSES = {
  timeout: "at its time limit",
  stopped: "told to stop",
  "spawn-failed": "never started",
  "runner-failed": "its runner failed",
};

type Over = Extract<Verdict, { state: "over" }>;

/** "exited with code 0", with the kubelet's word for it where that says more. */
export function howEnded({ end: { exitCode, signal, cause, reason } }: Over): string {
  const what =
    signal !== null ? `was ended by ${signal}` : exitCode === null ? "ended without an exit code" : `exited with code ${exitCode}`;
  const byRunner = cause === null || cause === "exit" || cause === "final-line" ? [] : [CAUSES[cause]];
  const byKubelet = reason === null || reason === "Completed" || reason === "Error" ? [] : [reason];
  const told = [...byRunner, ...byKubelet].join(", ");
  return told === "" ? what : `${what} (${told})`;
}

function span({ end: { startedAt, finishedAt } }: Over): string {
  const from = startedAt === null ? "" : `, started ${startedAt}`;
  return `${from}${finishedAt === null ? "" : `, finished ${finishedAt}`}`;
}

function output({ end: { bytes, lines } }: Over): string {
  return bytes === null ? "" : ` It wrote ${bytes} bytes of output${lines === null ? "" : ` in ${lines} lines`}.`;
}
