// The token and id that the run's requests are sent with: read from the mounted Secret, which is changed when another run adopts this one.
import { orNull, readOrNull } from "../files.ts";
import type { RelayCredentials } from "../records.ts";

export interface Credentials {
  /** The same object until it changes. What cannot be read changes nothing; read anew each time: the mount is memory. */
  readonly current: () => RelayCredentials | null;
  /** Whether it is one of the tokens this run has had. */
  readonly owns: (token: string) => boolean;
}

/** `known` is the token the CLI was started with; `onSwap` is called when a later identity is found. */
export function readCredentials(file: string, known: string | undefined, onSwap: (runId: string) => void): Credentials {
  const tokens = new Set(known ? [known] : []);
  let seen = "";
  let identity: RelayCredentials | null = null;
  const current = (): RelayCredentials | null => {
    const text = readOrNull(file);
    if (text === null || text === seen) return identity;
    seen = text;
    const found = orNull(() => parse(text));
    if (!found) return identity;
    const swapped = identity !== null && identity.token !== found.token;
    identity = found;
    tokens.add(found.token);
    if (swapped) onSwap(found.runId);
    return found;
  };
  current();
  return { current, owns: (token) => tokens.has(token) };
}

function parse(text: string): RelayCredentials | null {
  const { token, runId, headers = {} } = JSON.parse(text) as Partial<RelayCredentials>;
  const known = Object.entries(headers).filter(([name, value]) => /^[\w-]+$/.test(name) && isHeaderValue(value));
  return isHeaderValue(token) && isHeaderValue(runId) ? { token, runId, headers: Object.fromEntries(known) } : null;
}

const isHeaderValue = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
