/** Where a command prints to: plain lines, so that a pipe gets what a person sees. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stopped: AbortSignal;
  now(): number;
}

export const EXIT = { done: 0, error: 1, usage: 2, left: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
