import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "./adapter.ts";
import type { AgentCli } from "./agent-cli/agent-cli.ts";
import { startControlServer } from "./handover/drain/control-server.ts";
import { RunRegistry } from "./handover/drain/run-registry.ts";
import type { Model, ServerAdapter } from "./host/types.ts";
import { nodeProblem } from "./node-version.ts";
import { refusingAdapter } from "./refusing-adapter.ts";
import { configurationDoc } from "./settings/documents.ts";

/** By then the host has stored a result, or never will; a run that is lost before that is read again from its Job. */
export const STORED_MS = 3000;

/** What a package's entry exports to the host. Hosts cache module records: these names stay. */
interface AdapterEntry {
  readonly type: string;
  readonly label: string;
  readonly models: Model[];
  readonly agentConfigurationDoc: string;
  createServerAdapter(): ServerAdapter;
}

export function adapterEntry(cli: AgentCli): AdapterEntry {
  return {
    type: cli.type,
    label: cli.label,
    models: [...cli.models],
    agentConfigurationDoc: configurationDoc(cli),
    createServerAdapter: () => {
      const problem = nodeProblem(`the adapter ${cli.type}`);
      if (problem !== null) return refusingAdapter(cli, problem);
      const registry = new RunRegistry();
      // In the background: a server without the control socket runs as well.
      void startControlServer(registry, { adapter: cli.type, env: process.env }).catch(() => {});
      return createAdapter(cli, { engine: createEngine({ lingerMs: STORED_MS }), registry });
    },
  };
}
