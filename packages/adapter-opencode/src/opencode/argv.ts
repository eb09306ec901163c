interface ArgvOptions {
  readonly command?: string;
  readonly sessionId?: string | null;
  /** Of a new session; null = the model is asked for one. */
  readonly title?: string | null;
  /** `provider/model`. */
  readonly model?: string | null;
  readonly variant?: string | null;
  /** Print the model's reasoning too; OpenCode leaves it out of its events otherwise. */
  readonly thinking?: boolean;
  readonly extraArgs?: readonly string[];
}

/**
 * The command line of one run. `run` without a message reads the whole prompt from stdin (1.18.33). `--auto` is left out: without it
 * nothing waits either, what would be asked is rejected, and the user's own "ask" rules keep their meaning.
 */
export function argv({
  command = "opencode",
  sessionId,
  title,
  model,
  variant,
  thinking = false,
  extraArgs = [],
}: ArgvOptions = {}): string[] {
  return [
    command,
    "run",
    "--format",
    "json",
    // In one word with its value, so that a title cannot be taken for an option; a session that is resumed has its own.
    ...(sessionId ? ["--session", sessionId] : title ? [`--title=${title}`] : []),
    ...(model ? ["--model", model] : []),
    ...(variant ? ["--variant", variant] : []),
    ...(thinking ? ["--thinking"] : []),
    ...extraArgs,
  ];
}
