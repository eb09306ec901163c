import type { AgentCli } from "@paperclip-k8s/paperclip";

/** Every agent CLI as the product knows it, by name; loaded only where one is needed. The list of adapters beside this file has the same names, or does not compile. */
export const agentClis = {
  opencode: async () => (await import("./adapter-opencode/src/agent-cli.ts")).opencode,
  claude: async () => (await import("./adapter-claude/src/agent-cli.ts")).claude,
} as const satisfies Readonly<Record<string, () => Promise<AgentCli>>>;

/** The CLI behind an adapter's type at the host, ours or the built-in one whose place ours can take; null = it is none of ours. */
export async function cliOfType(type: string | null): Promise<AgentCli | null> {
  const load = Object.entries(agentClis).find(([name]) => type === `${name}_k8s` || type === `${name}_local`)?.[1];
  return load === undefined ? null : load();
}
