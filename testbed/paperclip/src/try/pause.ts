import { adaptersOf } from "../host/adapters.ts";
import type { HostAddress } from "../host/api.ts";

/** The built-in types whose place our adapters have taken. */
const taken = async (host: HostAddress) => (await adaptersOf(host).list()).filter(({ overriddenBuiltin }) => overriddenBuiltin);

/** The host forgets a pause when it is restarted, so it is asked each time. */
export const isPaused = async (host: HostAddress): Promise<boolean> => (await taken(host)).some(({ overridePaused }) => overridePaused);

/** Gives the built-in types back to the host's own adapters, or takes them again; runs under way go on where they are. */
export async function pauseOrResume(host: HostAddress, whilePaused: string, say: (line: string) => void): Promise<void> {
  const types = (await taken(host)).map(({ type }) => type);
  const paused = !(await isPaused(host));
  for (const type of types) await adaptersOf(host).pause(type, paused);
  const next = paused ? `${whilePaused}. w gives them work, p again resumes` : "their next runs are Jobs again. w gives them work";
  say(`${paused ? "paused" : "resumed"} ${types.join(" and ")}: ${next}`);
}
