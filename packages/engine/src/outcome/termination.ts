import type { TerminationMessage } from "@paperclip-k8s/runner";
import { terminated } from "./pod-facts.ts";
import type { RunState } from "./state.ts";

/** The runner's termination message; null when the text is anything else (a log tail, an older program). */
export function terminationMessage(state: RunState): TerminationMessage | null {
  return parseTermination(terminated(state.pod, state.identity.container)?.message ?? null, state.identity.nonce);
}

export function parseTermination(text: string | null, nonce: string): TerminationMessage | null {
  if (!text?.startsWith("{")) return null;
  try {
    const value = JSON.parse(text) as Partial<TerminationMessage>;
    const ours = value.format === 1 && value.nonce === nonce && typeof value.bytes === "number" && typeof value.cause === "string";
    return ours ? (value as TerminationMessage) : null;
  } catch {
    return null;
  }
}
