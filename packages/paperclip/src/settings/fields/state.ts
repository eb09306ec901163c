import { named } from "../field.ts";
import { choice, quantity, text, toggle, wholeNumber } from "../kinds/scalar.ts";
import { dnsSubdomain } from "../kinds/text-checks.ts";
import { DAY } from "./limits.ts";

/** Only for a CLI that can keep its sessions on a claim of the agent's own. */
export const CLAIM_FIELDS = ["agentDbMode", "agentDbStorageClass", "agentDbStorageCapacity"] as const;

/** What may overlap, and what is kept after a run. */
export const stateFields = named({
  concurrency: choice({
    label: "Concurrency",
    first: true,
    options: { task: "One run per task", agent: "One run per agent" },
    doc: "what never overlaps: two runs of one task (its other tasks run at the same time), or any two runs of the agent",
  }),
  reattachOrphanedJobs: toggle({
    label: "Take over live Jobs",
    default: true,
    doc: "a run that continues one whose server is gone takes its live Job over; off: it is blocked by that Job",
  }),
  retainJobs: toggle({
    label: "Retain Jobs",
    default: false,
    doc: "keep Job, Secret and log file after the run, for debugging; the log names them",
  }),
  agentDbMode: choice({
    label: "Session storage",
    ignoresOthers: true,
    options: { portable: "Kept on the shared volume", dedicated_pvc: "On a claim of the agent's own", ephemeral: "Not kept" },
    doc: "the CLI's sessions. `portable`: carried in and out on the shared volume, one per task; `dedicated_pvc`: on one ReadWriteOnce claim per agent, so that its runs take turns; `ephemeral`: nothing is kept",
  }),
  agentDbStorageClass: text({
    label: "Session storage class",
    check: dnsSubdomain,
    doc: "for `dedicated_pvc`: storage class to make the agent's claim of; needed only if it is not there yet",
  }),
  agentDbStorageCapacity: quantity({
    label: "Session storage size",
    default: "1Gi",
    unit: "bytes",
    doc: "for `dedicated_pvc`: size of the agent's claim when it is made",
  }),
  stateSaveIntervalSec: wholeNumber({
    label: "Save sessions every (sec)",
    default: 60,
    max: DAY,
    doc: "how often the session of a running CLI is saved, besides at its end: what a pod that is killed hard can lose. 0 = the default",
  }),
  stateRetentionDays: wholeNumber({
    label: "Keep sessions (days)",
    default: 90,
    max: 3650,
    doc: "saved sessions of this agent that no run has used for so long are removed. 0 = the default",
  }),
  stateMaxTasks: wholeNumber({
    label: "Keep sessions of (tasks)",
    default: 500,
    max: 100_000,
    doc: "of more tasks than this, the sessions that were not used for longest are removed. 0 = the default",
  }),
});
