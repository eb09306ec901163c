import type { Fault } from "./faults.ts";

const cli = (path: string): string => `packages/cli/src/${path}`;

/** What the operator's `recover` could overlook, release too early, or report twice. */
export const RECOVER_FAULTS: readonly Fault[] = [
  {
    what: "recover: an issue is released while its agent still works, because the host has a result",
    file: cli("recovery/proof.ts"),
    find: "if (living !== undefined) return",
    replace: "if (living !== undefined && issue.run.result === null && words === null) return",
    caughtBy: [cli("recovery/decision.test.ts")],
  },
  {
    what: "recover: the result of a run that left its Job behind counts as the end of the Job",
    file: cli("recovery/proof.ts"),
    find: "if (result === null || isLost(run) || !showsEnd(result)) return null;",
    replace: "if (result === null || !showsEnd(result)) return null;",
    caughtBy: [cli("recovery/decision.test.ts")],
  },
  {
    what: "recover: an end that nobody saw counts as one",
    file: cli("recovery/proof.ts"),
    find: '(OVER.has(outcome) && proof !== null && proof !== "none")',
    replace: "OVER.has(outcome)",
    caughtBy: [cli("recovery/decision.test.ts")],
  },
  {
    what: "recover: a run that failed by itself is started again without anybody having asked for it",
    file: cli("recovery/decision.ts"),
    find: "if (!isNamed && !isLost(issue.run)) return",
    replace: "if (!isNamed && issue.run.status === null) return",
    caughtBy: [cli("recovery/decision.test.ts")],
  },
  {
    what: "recover: holds that the host's list does not mark are overlooked",
    file: cli("recovery/candidates.ts"),
    find: "candidates: [...marked, ...others] };",
    replace: "candidates: others.length === 0 ? marked : [...marked] };",
    caughtBy: [cli("recovery/candidates.test.ts")],
  },
  {
    what: "recover: an issue that is still held after a resolution counts as released",
    file: cli("recovery/release.ts"),
    find: "if (held !== null) continue;",
    replace: 'if (held !== null) return { kind: "released", nextRun: null, rows: done.size };',
    caughtBy: [cli("recovery/release.test.ts")],
  },
  {
    what: "recover: the cost of a run is reported each time",
    file: cli("unattended/report-cost.ts"),
    find: "if (earlier !== null) return earlier;",
    replace: "if (earlier?.isReported === null) return earlier;",
    caughtBy: [cli("unattended/unattended.test.ts")],
  },
  {
    what: "recover: a cost is reported that others have written into the output",
    file: cli("unattended/report-cost.ts"),
    find: "if (!usage.genuine) return",
    replace: "if (usage.genuine === null) return",
    caughtBy: [cli("unattended/unattended.test.ts")],
  },
  {
    what: "recover: the cost of a run is reported although a later run has reported it",
    file: cli("unattended/lost-runs.ts"),
    find: "isLost(run) && !goesOn(run.id) && !isOthers(run)",
    replace: "isLost(run) && !isOthers(run)",
    caughtBy: [cli("unattended/lost-runs.test.ts")],
  },
];
