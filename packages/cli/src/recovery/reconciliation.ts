import { type AgentEnd, type EndedJob, howEnded } from "../cluster/job-state.ts";
import type { HeldIssue } from "./find/held-issues.ts";
import { endedAs } from "./find/run-record.ts";
import { howRecorded, type Proof } from "./proof.ts";

/** What the host gets about a stopped run, as its API takes it. */
export interface Reconciliation {
  readonly actionOutcome: "completed" | "not_performed" | "mixed";
  readonly evidence: string;
}

/** Says of an ended run what is proved. Only an agent that ended by itself with exit code 0 is called completed. */
export function reconcile(proof: Proof, { run }: Pick<HeldIssue, "run">, now: Date): Reconciliation {
  const read = `Read by paperclip-k8s at ${now.toISOString()}.`;
  switch (proof.kind) {
    case "host's record":
      return byHost(proof, read);
    case "job":
      return byJob(proof, run.id, read);
    case "kept end": {
      const { state } = proof;
      const evidence = `The Job of run ${run.id} is gone; the record it left on the volume says that the agent ${howEnded(state)} at ${state.end.finishedAt}, after ${state.end.bytes} bytes of output. ${read}`;
      return { actionOutcome: isComplete(state.end) ? "completed" : "mixed", evidence };
    }
    case "operator":
      return {
        actionOutcome: "mixed",
        evidence: `An operator states that the agent of run ${run.id} has stopped: ${proof.statement} ${read}`,
      };
  }
}

function byHost({ run, result }: Extract<Proof, { kind: "host's record" }>, read: string): Reconciliation {
  const at = run.finishedAt === null ? "" : ` at ${run.finishedAt}`;
  const job = result.job === null ? "" : ` Its Job was ${result.job}.`;
  const forged = result.forged ? " Others had written to its output." : "";
  const evidence = `Run ${run.id} ended${at} as ${endedAs(run)}, and the host has stored the adapter's result: ${howRecorded(run, result)}.${job}${forged} ${read}`;
  return { actionOutcome: result.notStarted ? "not_performed" : "mixed", evidence };
}

function byJob({ found, state }: Extract<Proof, { kind: "job" }>, held: string, read: string): Reconciliation {
  const { namespace, job, runIds } = found;
  const runId = runIds.includes(held) ? held : `${runIds[0]}, which run ${held} was to go on with,`;
  const subject = `Kubernetes Job ${namespace}/${job.name} (uid ${job.uid}) of run ${runId}`;
  if (state.kind === "never ran")
    return { actionOutcome: "not_performed", evidence: `${subject}: the agent did not start, ${state.why}. ${read}` };
  const { end } = state;
  const place = end.pod === null ? "" : ` in pod ${end.pod}${end.node === null ? "" : ` on node ${end.node}`}`;
  const evidence = `${subject} has ended: the agent${place} ${howEnded(state)}${span(state)}.${output(state)} Proof: ${end.proof}. ${read}`;
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
