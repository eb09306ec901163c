// A plugin of OpenCode: it prints the finished steps of sub-agents, of which `opencode run` prints nothing. OpenCode calls each export.
import { SubAgentSteps } from "./sub-agent-steps.ts";

const steps = new SubAgentSteps();

// An OpenCode that the agent itself starts does not load it.
delete process.env.OPENCODE_CONFIG;

// OpenCode calls `event` in the midst of its own work: an error here would be its own.
export const SubAgents = async (): Promise<object> => ({
  event({ event }: { readonly event: unknown }): void {
    try {
      const line = steps.lineFor(event);
      // The stream of OpenCode's own lines, which are written whole, one after the other.
      if (line !== null) process.stdout.write(line);
    } catch {}
  },
});
