export type { AgentConfig, AgentResources } from "./settings/agent-config.ts";
export { SERVER_CONTAINER_NAMES } from "./settings/fields/cluster.ts";
export { type FormField, type FormSchema, formSchema } from "./settings/form.ts";
export type { Toleration } from "./settings/kinds/tolerations.ts";
export { parseConfig } from "./settings/parse.ts";
