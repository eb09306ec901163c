import { readFile } from "node:fs/promises";

/** As often as Kubernetes' own clients look: a rotated token is valid for longer than that before the old one expires. */
const KEPT_MS = 60_000;

/** Small files that others rotate: read again once a minute, however many requests need them. */
export class KeptFiles {
  readonly #kept = new Map<string, { readonly at: number; readonly bytes: Buffer }>();
  readonly #clock: () => number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  async read(path: string): Promise<Buffer> {
    const kept = this.#kept.get(path);
    if (kept !== undefined && this.#clock() - kept.at < KEPT_MS) return kept.bytes;
    const bytes = await readFile(path);
    this.#kept.set(path, { at: this.#clock(), bytes });
    return bytes;
  }
}
