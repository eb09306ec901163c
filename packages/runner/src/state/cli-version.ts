// The CLI's version, asked of the CLI itself while the run goes on, so that nothing waits for it.
import { execFile } from "node:child_process";
import { cutText } from "../cut-text.ts";
import type { StateSpec } from "../records.ts";

const LIMIT_MS = 10_000;
/** The CLI's own start comes first. */
const DELAY_MS = 2_000;

export class CliVersion {
  readonly #source: StateSpec["version"];
  readonly #env: NodeJS.ProcessEnv;
  #text: Promise<string | null> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: StateSpec["version"], env: NodeJS.ProcessEnv) {
    this.#source = source;
    this.#env = env;
  }

  askSoon(): void {
    this.#timer = setTimeout(() => void this.text(), DELAY_MS);
  }

  /** null when it cannot be had: the state is worth saving without. */
  text(): Promise<string | null> {
    clearTimeout(this.#timer);
    this.#text ??= typeof this.#source === "string" || this.#source === null ? Promise.resolve(this.#source) : this.#ask(this.#source);
    return this.#text;
  }

  #ask([program, ...args]: readonly [string, ...string[]]): Promise<string | null> {
    const options = { env: this.#env, timeout: LIMIT_MS, killSignal: "SIGKILL", maxBuffer: 64 * 1024 } as const;
    return new Promise((resolve) => {
      const child = execFile(program, args, options, (error, stdout) => {
        const line = stdout.split("\n", 1)[0]?.trim();
        resolve(error || !line ? null : cutText(line, 200));
      });
      child.stdin?.end();
    });
  }
}
