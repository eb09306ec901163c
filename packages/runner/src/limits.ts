// How long the runner waits for things it does not control, and how much it keeps in memory meanwhile.

export interface Waits {
  /** For the volume's first answer; after that the CLI starts without it. */
  readonly openMs: number;
  /** With a full buffer and no byte written for this long, the rest of the output is given up and the CLI goes on. */
  readonly stallMs: number;
  /** For a process that outlived the CLI to close its stdout, unless the CLI's final line was seen. */
  readonly leftoverMs: number;
  /** SIGTERM to SIGKILL for what outlived the CLI. */
  readonly leftoverKillMs: number;
}

/** `spec.json` may carry other values as `waits`: for tests, not part of the contract. */
export const WAITS: Waits = { openMs: 5_000, stallMs: 240_000, leftoverMs: 2_000, leftoverKillMs: 1_000 };

/** For a child process of the runner to begin: on a busy node that can take long and says nothing about the volume. */
export const CHILD_START_MS = 60_000;

const MIB = 1024 * 1024;
export const LIMITS = {
  /** Output given to the writer and not yet written; beyond it the CLI's stdout is paused. */
  unwritten: 4 * MIB,
  /** Copy of the output waiting for a reader of the container's log; beyond it the copy has gaps. */
  logCopy: 4 * MIB,
  /** Of the beginning of stderr, and of its end. */
  stderrKept: MIB,
  stderrTail: 64 * 1024,
  stderrPiece: 8 * 1024,
  /** Lines up to this size are matched whole, longer ones by their beginning. */
  matchedLine: MIB,
  matchedHead: 64 * 1024,
  finalLine: 2048,
  terminationMessage: 4096,
  error: 600,
  /** Of what leftover processes wrote after the CLI's end. */
  lateOutput: 300,
} as const;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

const LONGEST_TIMER = 2 ** 31 - 1;

/** A timer for any number of milliseconds: setTimeout fires at once beyond 2³¹. Returns what cancels it. */
export function longTimer(ms: number, fire: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    timer = left > LONGEST_TIMER ? setTimeout(() => arm(left - LONGEST_TIMER), LONGEST_TIMER) : setTimeout(fire, left);
  };
  arm(ms);
  return () => clearTimeout(timer);
}
