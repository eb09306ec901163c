import type { TerminationMessage } from "@paperclip-k8s/runner";
import { parseTermination } from "../decode-records.ts";
import { terminated } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

/** The runner's termination message; null when the text is anything else (a log tail, an older program). */
export function terminationMessage(state: RunState): TerminationMessage | null {
  return parseTermination(terminated(state.pod, state.identity.container)?.message ?? null, state.identity.nonce);
}
