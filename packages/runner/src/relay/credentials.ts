// The token and id that the run's requests are sent with: read from the mounted Secret, which is changed when another run adopts this one.
import { readFileSync } from "node:fs";
import type { RelayCredentials } from "../records.ts";

export class Credentials {
  /** A later identity was found. */
  onSwap: (runId: string) => void = () => {};
  readonly #file: string;
  readonly #tokens = new Set<string>();
  #text = "";
  #identity: RelayCredentials | null = null;

  /** `known` is the token the CLI was started with. */
  constructor(file: string, known: string | undefined) {
    this.#file = file;
    if (known) this.#tokens.add(known);
    this.current();
  }

  /** The same object until it changes. What cannot be read changes nothing; read anew each time: the mount is memory. */
  current(): RelayCredentials | null {
    const text = read(this.#file);
    if (text === null || text === this.#text) return this.#identity;
    this.#text = text;
    const found = parse(text);
    if (!found) return this.#identity;
    const swapped = this.#identity !== null && this.#identity.token !== found.token;
    this.#identity = found;
    this.#tokens.add(found.token);
    if (swapped) this.onSwap(found.runId);
    return found;
  }

  /** Whether it is one of the tokens this run has had. */
  owns(token: string): boolean {
    return this.#tokens.has(token);
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

function parse(text: string): RelayCredentials | null {
  try {
    const { token, runId } = JSON.parse(text) as Partial<RelayCredentials>;
    return isHeaderValue(token) && isHeaderValue(runId) ? { token, runId } : null;
  } catch {
    return null;
  }
}

const isHeaderValue = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
