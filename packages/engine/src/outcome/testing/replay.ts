import type { StatusLine } from "../../run-context.ts";
import { createStatusLog } from "../../status/status-lines.ts";
import type { Timeouts } from "../../timeouts.ts";
import type { Observation } from "../observation.ts";
import { reduce } from "../reduce.ts";
import type { RunState } from "../state.ts";
import { accepted, timeouts } from "./example-facts.ts";

const STEP_MS = 250;

interface Played {
  readonly state: RunState;
  readonly lines: readonly StatusLine[];
  readonly texts: readonly string[];
}

/** Lets a run see these facts at their times and the clock go on behind them, until it has an outcome or the time is up. */
export function replay(
  facts: readonly Observation[],
  options: { readonly untilMs?: number; readonly image?: string; readonly timeouts?: Timeouts } = {},
): Played {
  const begun = accepted();
  const describe = createStatusLog();
  const lines: StatusLine[] = [];
  let state: RunState = { ...begun, identity: { ...begun.identity, image: options.image ?? "localhost/agent:1" } };
  const see = (seen: Observation) => {
    const before = state;
    state = reduce(before, seen, options.timeouts ?? timeouts);
    lines.push(...describe(before, state));
  };
  const left = [...facts];
  for (let at = STEP_MS; at <= (options.untilMs ?? 700_000) && state.outcome === null; at += STEP_MS) {
    while (left[0] !== undefined && left[0].at <= at && state.outcome === null) see(left.shift() as Observation);
    see({ at, kind: "tick" });
    if (state.endedAt !== null) see({ at, kind: "drained", bytes: state.delivered });
  }
  return { state, lines, texts: lines.map((line) => line.text) };
}
