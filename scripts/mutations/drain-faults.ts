import type { Fault } from "./faults.ts";

const suite = (name: string): string => `testbed/suite/src/${name}.test.ts`;

/** What would cost a drained run its result. */
export const DRAIN_FAULTS: readonly Fault[] = [
  {
    what: "drain: the host is asked with a run's token before it has stored the run's end, and may lose that",
    file: "packages/paperclip/src/handover/drain/host-record.ts",
    find: "await record.stored();",
    replace: "",
    caughtBy: ["packages/paperclip/src/handover/drain/run-registry.test.ts"],
  },
  {
    what: "a run returns while a question with its token is under way, which may cost its result",
    file: "packages/paperclip/src/execute.ts",
    find: "await withTimeout(callsEnded(ctx), options.hostTimeoutMs);",
    replace: "",
    caughtBy: [suite("cancel-host")],
  },
  {
    what: "a Job that a drain left is taken over by retries only: a comment that waited takes their place, and the Job's result is lost",
    file: "packages/paperclip/src/handover/adoption/decision.ts",
    find: "const resumes = isDetached(run) || ",
    replace: "const resumes = ",
    caughtBy: ["packages/paperclip/src/handover/adoption/decision.test.ts"],
  },
  {
    what: "a run whose result the host's database lost counts as one whose end is on record",
    file: "packages/paperclip/src/host/runs.ts",
    find: "(resultLost === true || (errorCode !== null && LOST_CODES.has(errorCode)))",
    replace: "errorCode !== null && LOST_CODES.has(errorCode)",
    caughtBy: ["packages/paperclip/src/handover/adoption/on-lock-conflict.test.ts", "packages/paperclip/src/host/runs.test.ts"],
  },
];
