import type { Evidence } from "@paperclip-k8s/engine";
import type { Ending } from "../conclude/failure.ts";
import type { Turn } from "./attempt.ts";

/** Is there anything that the next run can resume? `maybe`: it is asked for, but nothing is promised to the host. */
export type KeptSession = "yes" | "no" | "maybe";

/** What is known of the session that a run reports, and what follows. */
const FOLLOWS = {
  "gone with its pod": "no",
  "kept by the CLI itself": "yes",
  saved: "yes",
  "nothing to save": "no",
  // What the run did is lost; what it began with is where it was.
  "resumed, as it was saved before": "yes",
  "resumed, and never restored": "yes",
  "not saved": "no",
  // A fresh one beside an older save, or killed hard: a save may have been under way.
  unknown: "maybe",
} as const satisfies Record<string, KeptSession>;

export interface SessionFacts {
  /** Where the run's sessions are kept; null = not known. */
  readonly mode: string | null;
  readonly state: Evidence["state"];
  /** The session is the one that the run began with. */
  readonly resumed: boolean;
}

export const keptSession = (facts: SessionFacts): KeptSession => FOLLOWS[known(facts)];

function known({ mode, state, resumed }: SessionFacts): keyof typeof FOLLOWS {
  if (mode === "ephemeral") return "gone with its pod";
  if (mode === "dedicated_pvc" || mode === "own") return "kept by the CLI itself";
  if (state === null) return resumed ? "resumed, and never restored" : "unknown";
  if (state.saved) return state.last === null ? "nothing to save" : "saved";
  if (state.last === null) return state.saveMs === null ? "unknown" : "not saved";
  return resumed ? "resumed, as it was saved before" : "unknown";
}

/** The CLI had a session, and what it left is not where sessions are looked for: the log must say so, or the next run's fresh start is a riddle. */
export function lostSession({ cli, state }: Pick<Turn, "cli" | "state">, { report, outcome }: Ending): string | null {
  const saved = outcome.evidence.state;
  if (state.mode !== "portable" || report.sessionId === null || saved === null || !saved.saved || saved.last !== null) return null;
  const places = (cli.state?.parts ?? []).map(({ path }) => `~/${path}`).join(", ");
  return `session ${report.sessionId} is not kept: the CLI left nothing in ${places}; the next run of this task begins anew`;
}
