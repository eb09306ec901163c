import { inPlaceEntry } from "@paperclip-k8s/paperclip";
import type { Model, ServerAdapter } from "@paperclip-k8s/paperclip/host";
import { claude } from "./agent-cli.ts";

const entry = inPlaceEntry(claude);

// Hosts cache module records: these names stay.
export const type: string = entry.type;
export const label: string = entry.label;
export const models: Model[] = entry.models;
export const agentConfigurationDoc: string = entry.agentConfigurationDoc;
/** The host's entry: an adapter in the place of its own one for Claude Code, so that the agents it has run as Kubernetes Jobs. */
export const createServerAdapter: () => ServerAdapter = entry.createServerAdapter;
