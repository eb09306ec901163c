const MOST_CHARS = 80;
const UNNAMED = "Paperclip task";

/** A title for a new session, in one short line: without one the CLI asks the model for it. */
export function sessionTitle(about: string | null): string {
  // Lone surrogates cannot be an argument.
  const line = (about ?? "")
    .slice(0, 10 * MOST_CHARS)
    .replace(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
  const chars = [...line];
  return (chars.length > MOST_CHARS ? `${chars.slice(0, MOST_CHARS).join("").trimEnd()}…` : line) || UNNAMED;
}

/** Whether the agent's own arguments give the session a title, or continue one that has it. */
export const hasOwnTitle = (extraArgs: readonly string[]): boolean =>
  extraArgs.some((arg) => /^(--title|--session|--continue|--fork|-s|-c)(=|$)/.test(arg));
