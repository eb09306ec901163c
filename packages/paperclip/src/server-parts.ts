import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "./adapter.ts";
import type { AgentCli } from "./agent-cli/agent-cli.ts";
import { startControlServer } from "./handover/drain/control-server.ts";
import { RunRegistry } from "./handover/drain/run-registry.ts";
import { processEnding } from "./handover/process-ending.ts";
import type { ServerAdapter } from "./host/types.ts";

/** By then the host has stored a result, or never will; a run that is lost before that is read again from its Job. */
export const STORED_MS = 3000;

/** What all adapters of ours in one server have in common: the engine with its watches, the volume's process, the runs and the control socket. */
interface ServerParts {
  addAdapter(cli: AgentCli): ServerAdapter;
}

/** Set by the build: packages of another build may differ in everything that they would share. */
declare const PAPERCLIP_K8S_BUILD: string | undefined;
const BUILD = typeof PAPERCLIP_K8S_BUILD === "string" ? PAPERCLIP_K8S_BUILD : "source";
const KEY = Symbol.for(`paperclip-k8s/${BUILD}`);

/** Each package has this code once. The one that is loaded first runs the adapters of all packages of its build. */
export function serverParts(): ServerParts {
  const process = globalThis as { [KEY]?: ServerParts };
  process[KEY] ??= createParts();
  return process[KEY];
}

function createParts(): ServerParts {
  const engine = createEngine({ lingerMs: STORED_MS, ending: processEnding() });
  const registry = new RunRegistry();
  const types = new Set<string>();
  // In the background: a server without the control socket runs as well.
  void startControlServer(registry, { adapter: () => [...types].join(", "), env: process.env }).catch(() => {});
  return {
    addAdapter(cli) {
      types.add(cli.type);
      return createAdapter(cli, { engine, registry });
    },
  };
}
