import { adapterEntry } from "@paperclip-k8s/paperclip";
import type { Model, ServerAdapter } from "@paperclip-k8s/paperclip/host";
import { opencode } from "./agent-cli.ts";

const entry = adapterEntry(opencode);

// Hosts cache module records: these names stay.
export const type: string = entry.type;
export const label: string = entry.label;
export const models: Model[] = entry.models;
export const agentConfigurationDoc: string = entry.agentConfigurationDoc;
/** The host's entry: an adapter that runs OpenCode as Kubernetes Jobs. */
export const createServerAdapter: () => ServerAdapter = entry.createServerAdapter;
