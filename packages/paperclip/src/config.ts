export type { AgentConfig, AgentResources } from "./config/agent-config.ts";
export { SERVER_CONTAINER_NAMES } from "./config/fields/cluster.ts";
export { type FormField, type FormSchema, formSchema } from "./config/form.ts";
export type { Toleration } from "./config/kinds/tolerations.ts";
export { parseConfig } from "./config/parse.ts";
