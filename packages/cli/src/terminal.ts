import { cleanText } from "@paperclip-k8s/paperclip/clean-text";

/** Where a command prints to: plain lines, so that a pipe gets what a person sees. */
export interface Terminal {
  /** Each call prints exactly one line, also if the text quotes something with newlines. */
  out(line: string): void;
  err(line: string): void;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly stopped: AbortSignal;
  now(): number;
}

/** Names, reasons and times come from pods, files and cluster objects: nothing in them may steer the operator's terminal. */
export function cleanTerminal({ out, err, ...rest }: Terminal): Terminal {
  const line = (text: string): string => cleanText(text).replaceAll("\n", " ⏎ ").replaceAll("\t", " ");
  return { ...rest, out: (text) => out(line(text)), err: (text) => err(line(text)) };
}

export const EXIT = { done: 0, error: 1, usage: 2, left: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
