import { named } from "../field.ts";
import { wholeNumber } from "../kinds/scalar.ts";

export const DAY = 86_400;
const YEAR = 365 * DAY;

/** How long things may take, in seconds. */
export const limitFields = named({
  timeoutSec: wholeNumber({
    hostLabel: "Timeout (sec)",
    default: 0,
    max: YEAR,
    defaultText: "0 = none",
    doc: "time limit of a run, counted from the CLI's start",
  }),
  graceSec: wholeNumber({
    hostLabel: "Interrupt grace period (sec)",
    default: 60,
    max: DAY,
    doc: "SIGTERM to SIGKILL at the time limit (on cancel at most 30); 0 = the default. Paperclip's form shows 15 while it is unset",
  }),
  maxRunSec: wholeNumber({
    label: "Longest run (sec)",
    default: DAY,
    max: YEAR,
    doc: "backstop where `timeoutSec` is 0; 0 = the default",
  }),
  scheduleTimeoutSec: wholeNumber({
    label: "Scheduling timeout (sec)",
    default: 600,
    max: DAY,
    doc: "how long a pod may stay unscheduled; leave an autoscaler its time. 0 = the default",
  }),
  ttlSecondsAfterFinished: wholeNumber({
    label: "Job TTL (sec)",
    default: DAY,
    max: YEAR,
    doc: "how long an ended Job stays that no server settled: a restarted server reads its result from it. 0 = the default",
  }),
});
