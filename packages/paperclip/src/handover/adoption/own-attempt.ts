import type { Adoption } from "@paperclip-k8s/engine";
import { type Ending, failureOf } from "../../conclude/failure.ts";
import type { Remedy } from "../../conclude/next-attempt.ts";
import type { Turn } from "../../prepare/attempt.ts";
import { untold } from "./run-inputs.ts";

/**
 * A host may fold a new comment into the run that continues a lost one. The Job that this run took over was never told of it: it is answered
 * behind that Job, within the same run. A Job that failed is the host's to start again, with the comment in its prompt.
 */
export function ownTurn(turn: Turn, ending: Ending, adopted: Adoption | null): Remedy | null {
  if (adopted === null || failureOf(ending) !== null) return null;
  const late = untold(turn.ctx.context, adopted.job);
  if (late.length === 0) return null;
  const { without, setOwnership = false, attempt } = turn;
  const sessionId = ending.report.sessionId ?? turn.sessionId;
  return {
    note: `Job ${adopted.job.name} was started before ${late.length === 1 ? "a message" : `${late.length} messages`} that this run is to answer: going on with that`,
    start: { sessionId, without, attempt: attempt + 1, ...(setOwnership ? { setOwnership } : {}) },
  };
}
