import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import type { Model, ServerAdapter } from "@paperclip-k8s/paperclip/host";
import { opencode } from "./agent-cli.ts";

// Hosts cache module records: these names stay.
export const type: string = opencode.type;
export const label: string = opencode.label;
export const models: Model[] = [...opencode.models];

/** The host's entry: an adapter that runs OpenCode as Kubernetes Jobs. */
export function createServerAdapter(): ServerAdapter {
  return createAdapter(opencode, { engine: createEngine() });
}

export const agentConfigurationDoc: string = createServerAdapter().agentConfigurationDoc;
