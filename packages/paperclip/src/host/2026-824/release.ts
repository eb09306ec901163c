import type { ExecutionContext } from "../types.ts";

// What is needed for Paperclip 2026.824 alone.

/** Every later release hands this callback to `execute`. */
export const is824 = ({ onCancellationReady }: Pick<ExecutionContext, "onCancellationReady">): boolean => onCancellationReady === undefined;

/**
 * Whether the log of a silent run needs a line now and then. Of several servers of 2026.824 each gives up the others' runs whose row has not
 * changed for five minutes, and only output changes it. Later releases renew a lease for each run they follow, and show for how long its CLI
 * has been silent: a line of ours would count as the CLI's.
 */
export const needsKeepAlive = is824;
