// Ends what outlived the CLI in its process group.
import { groupAlive, signalGroup, terminateGroup } from "./process-group.ts";
import { sleep } from "./waits.ts";

/** True when there was something to end. */
export async function endLeftovers(group: number, killMs: number): Promise<boolean> {
  if (!groupAlive(group)) return false;
  terminateGroup(group);
  if (!(await gone(group, killMs))) {
    signalGroup(group, "SIGKILL");
    await gone(group, 500);
  }
  return true;
}

async function gone(group: number, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; groupAlive(group); await sleep(20)) if (performance.now() >= end) return false;
  return true;
}
