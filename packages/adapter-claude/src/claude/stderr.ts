import { withoutTerminalCodes } from "@paperclip-k8s/paperclip/clean-text";

interface StderrFacts {
  /** The CLI's own complaint, in one line. */
  readonly fatal: string | null;
  readonly unknownOption: string | null;
  readonly sessionUnknown: boolean;
}

const SCANNED = 64 * 1024;

/** The facts in stderr, as far as Claude Code itself wrote it. */
export function readStderr(stderr: string): StderrFacts {
  const lines = withoutTerminalCodes(stderr.slice(-SCANNED)).split("\n");
  const refused = lines.map((line) => /^error: unknown option '(-{1,2}[\w-]+)/.exec(line)).find((found) => found !== null);
  const unknown = lines.find((line) => /^(Error: )?No conversation found with session ID/.test(line));
  const fatal = refused?.input ?? unknown ?? lines.find((line) => /^(Error|error): /.test(line)) ?? null;
  return { fatal, unknownOption: refused?.[1] ?? null, sessionUnknown: unknown !== undefined };
}
