// The CLI's version, asked of the CLI itself while the run goes on, so that nothing waits for it.
import { execFile } from "node:child_process";
import { cutText } from "../cut-text.ts";

const LIMIT_MS = 10_000;
/** The CLI's own start comes first. */
const DELAY_MS = 2_000;

export class CliVersion {
  #text: Promise<string | null> | null = null;
  readonly #source: string | readonly [string, ...string[]] | null;
  readonly #env: NodeJS.ProcessEnv;
  #timer: NodeJS.Timeout | null = null;

  constructor(source: string | readonly [string, ...string[]] | null, env: NodeJS.ProcessEnv) {
    this.#source = source;
    this.#env = env;
  }

  askSoon(): void {
    if (Array.isArray(this.#source)) this.#timer = setTimeout(() => void this.text(), DELAY_MS);
  }

  text(): Promise<string | null> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#text ??= typeof this.#source === "string" || this.#source === null ? Promise.resolve(this.#source) : this.#ask(this.#source);
    return this.#text;
  }

  /** null when it cannot be had: the state is worth saving without. */
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
