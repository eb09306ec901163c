import { isMessageForged, isOutputForged } from "./ended.ts";
import type { RunState } from "./state.ts";

/** What others have tried to make of the run, in texts for people. None of it counted, except that a forged output was delivered. */
export function forgeries(state: RunState): string[] {
  const { foreignRecords: count, identity } = state;
  const lines = count === 1 ? "1 line" : `${count} lines`;
  return [
    ...(count > 0
      ? [`${lines} of ${identity.files.meta} ${count === 1 ? "was" : "were"} not written by this run's pod and did not count`]
      : []),
    ...(isMessageForged(state) ? [UNSIGNED_MESSAGE] : []),
    ...(isOutputForged(state) ? [forgedOutput(state)] : []),
  ];
}

/** The same for the log, each once and as early as it is known. */
export function newForgeries(before: RunState, after: RunState): string[] {
  const { files } = after.identity;
  const isFirst = before.foreignRecords === 0 && after.foreignRecords > 0;
  return [
    ...(isUncheckable(after) && !isUncheckable(before) ? [UNCHECKABLE] : []),
    ...(isFirst && !isUncheckable(after) ? [`${files.meta} has lines that this run's pod did not write: they do not count`] : []),
    ...(after.pod !== before.pod && isMessageForged(after) && !isUncheckable(after) ? [UNSIGNED_MESSAGE] : []),
    ...(before.outcome === null && after.outcome !== null && isOutputForged(after) ? [forgedOutput(after)] : []),
  ];
}

const isUncheckable = ({ identity: { records } }: RunState): boolean => records.kind === "signed" && records.key === null;

const UNCHECKABLE =
  "this server cannot check the records of the Job taken over: its secret is not the one that the Job was started with; only what Kubernetes reports counts";
const UNSIGNED_MESSAGE = "the container's termination message is not signed by this run's pod and does not count";
const forgedOutput = ({ identity }: RunState): string =>
  `${identity.files.output} is not as this run's pod has written it: nothing that was read from it can be relied on`;
