import { type Context, recordOf, textOf } from "../../host/context-values.ts";
import { sha256 } from "../../sha256.ts";

/** How the agent is to use what its company has connected, as the host puts it together for each run (releases after 2026.916). */
export interface ConnectionInstructions {
  readonly text: string;
  /** A session made under another one is not resumed. */
  readonly digest: string;
  /** Why the text is not all that the host gave. */
  readonly warning: string | null;
}

/** The host allows 2,000 characters per connection. */
const MOST_CHARS = 100_000;
/** It is noted on the Job and in the session's parameters. */
const DIGEST = /^[\w:+/=.-]{1,128}$/;

/** Null = there are none. */
export function connectionInstructions(context: Context): ConnectionInstructions | null {
  const given = recordOf(context.connectionInstructions);
  const whole = textOf(given.text);
  if (whole === null) return null;
  const named = textOf(given.digest);
  const isCut = whole.length > MOST_CHARS;
  return {
    text: isCut ? whole.slice(0, MOST_CHARS).toWellFormed() : whole,
    digest: named !== null && DIGEST.test(named) ? named : sha256(whole),
    warning: isCut
      ? `the host's instructions for connections have ${whole.length} characters: the first ${MOST_CHARS} are in the prompt`
      : null,
  };
}
