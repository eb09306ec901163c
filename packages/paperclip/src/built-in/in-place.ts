import type { AgentCli } from "../agent-cli/agent-cli.ts";

/** The same CLI in the place of the host's built-in adapter: another type, and everything else from one code. */
export function inPlaceOf(cli: AgentCli): AgentCli {
  const { builtIn, type, label } = cli;
  if (builtIn === undefined) throw new Error(`${type}: the host has no adapter of its own for this CLI`);
  return { ...cli, type: builtIn.type, label: `${label} (in place of ${builtIn.type})`, inPlace: { ownType: type } };
}

/** The host's page has a parser of its own for these types, which reads the CLI's own lines. */
export const IN_PLACE_DEFAULTS = { logFormat: "raw" } as const;
