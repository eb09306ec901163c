import type { AgentCli } from "./agent-cli/agent-cli.ts";
import { inPlaceOf } from "./built-in/in-place.ts";
import type { Model, ServerAdapter } from "./host/types.ts";
import { nodeProblem } from "./node-version.ts";
import { refusingAdapter } from "./refusing-adapter.ts";
import { serverParts } from "./server-parts.ts";
import { configurationDoc } from "./settings/documents.ts";

/** What a package's entry exports to the host. Hosts cache module records: these names stay. */
interface AdapterEntry {
  readonly type: string;
  readonly label: string;
  readonly models: Model[];
  readonly agentConfigurationDoc: string;
  createServerAdapter(): ServerAdapter;
}

/** The entry that takes the place of the host's built-in adapter for this CLI. */
export const inPlaceEntry = (cli: AgentCli): AdapterEntry => adapterEntry(inPlaceOf(cli));

export function adapterEntry(cli: AgentCli): AdapterEntry {
  return {
    type: cli.type,
    label: cli.label,
    models: [...cli.models],
    agentConfigurationDoc: configurationDoc(cli),
    createServerAdapter: () => {
      const problem = nodeProblem(`the adapter ${cli.type}`);
      if (problem !== null) return refusingAdapter(cli, problem);
      return serverParts().addAdapter(cli);
    },
  };
}
