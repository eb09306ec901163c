import { bundlesFolder } from "../../host/paths.ts";
import type { AgentConfig } from "../../settings/agent-config.ts";
import type { RunInputs } from "../attempt.ts";
import { sweepBundles } from "../bundle/sweep-bundles.ts";
import { type Retention, sweepStates } from "../state/sweep-states.ts";

/** Removes what earlier runs of the agent and its company left and nobody needs any more. No run waits for it. */
export async function sweepUp({ ctx, config, state, bundle }: RunInputs, tell: (trouble: string) => unknown): Promise<void> {
  const root = config.dataPath;
  const states = () => (state.mode === "portable" ? sweepStates({ root, own: state.spec.saved }, retention(config)) : null);
  const bundles = () => (bundle?.folder == null ? null : sweepBundles({ root, folder: bundlesFolder(ctx, config) }));
  for (const sweep of [states, bundles]) for (const trouble of (await sweep())?.troubles ?? []) tell(trouble);
}

function retention({ stateRetentionDays, stateMaxTasks, timeoutSec, maxRunSec }: AgentConfig): Retention {
  return { days: stateRetentionDays, tasks: stateMaxTasks, runSec: timeoutSec === 0 ? maxRunSec : timeoutSec };
}
