import { choice } from "../kinds/choice.ts";
import { quantity } from "../kinds/quantity.ts";
import { text } from "../kinds/text.ts";
import { dnsSubdomain } from "../kinds/text-checks.ts";
import { toggle } from "../kinds/toggle.ts";
import { OPENCODE } from "./adapters.ts";

const DEDICATED = { key: "agentDbMode", value: "dedicated_pvc" } as const;

/** What may overlap, and what stays behind. */
export const stateFields = {
  concurrency: choice({
    key: "concurrency",
    label: "Concurrency",
    options: [
      ["task", "One run per task"],
      ["agent", "One run per agent"],
    ],
    doc: "what may not overlap. Today no two runs of one agent overlap, not even with `task`: their state cannot be shared yet",
  }),
  reattachOrphanedJobs: toggle({
    key: "reattachOrphanedJobs",
    label: "Take over live Jobs",
    default: true,
    doc: "a run that continues one whose server is gone takes its live Job over; off: it is blocked by that Job",
  }),
  retainJobs: toggle({
    key: "retainJobs",
    label: "Retain Jobs",
    default: false,
    doc: "keep Job, Secret and log file after the run, for debugging; the log names them",
  }),
  agentDbMode: choice({
    key: "agentDbMode",
    label: "Session storage",
    adapters: [OPENCODE],
    options: [
      ["portable", "Kept on the shared volume"],
      ["ephemeral", "Not kept"],
    ],
    refused: {
      dedicated_pvc:
        "dedicated_pvc (one claim per agent) is not there yet; use portable, which keeps sessions on the shared volume, or ephemeral",
    },
    doc: "OpenCode's sessions. `portable`: a folder per agent on the shared volume; `ephemeral`: nothing is kept; `dedicated_pvc` is not there yet",
  }),
  agentDbStorageClass: text({
    key: "agentDbStorageClass",
    label: "Session storage class",
    adapters: [OPENCODE],
    visibleWhen: DEDICATED,
    check: dnsSubdomain,
    doc: "for `dedicated_pvc`: storage class of the agent's claim",
  }),
  agentDbStorageCapacity: quantity({
    key: "agentDbStorageCapacity",
    label: "Session storage size",
    adapters: [OPENCODE],
    visibleWhen: DEDICATED,
    default: "1Gi",
    unit: "bytes",
    doc: "for `dedicated_pvc`: size of the agent's claim",
  }),
} as const;
