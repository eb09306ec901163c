// Ends what outlived the CLI in its process group.
import { groupAlive, signalGroup, terminateGroup } from "./process-group.ts";
import { sleep } from "./waits.ts";

/** True when there was something to end. */
export async function endLeftovers(group: number, killMs: number): Promise<boolean> {
  // A process closes its files a moment before it is gone: one that is just ending by itself is no leftover.
  if (await gone(group, 100)) return false;
  terminateGroup(group);
  if (!(await gone(group, killMs))) {
    signalGroup(group, "SIGKILL");
    await gone(group, 500);
  }
  return true;
}

async function gone(group: number, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; groupAlive(group); await sleep(10)) if (performance.now() >= end) return false;
  return true;
}
