/** What is wrong, according to the CLI itself. */
export interface CliFault {
  readonly kind: FaultKind;
  /** Error code instead of the kind's own. */
  readonly code?: string;
  readonly message: string;
  /** What to do about it, where the message does not say it. */
  readonly remedy?: string;
  /** How long the provider asks to wait; null = not given. */
  readonly retryAfterSec: number | null;
  /** The same as a time, in milliseconds. */
  readonly retryAt?: number;
  /** An option of ours that this CLI does not know and that can be left out. */
  readonly unknownOption?: string;
}

export type FaultKind =
  | "unknown-session"
  /** The session is there, but no turn of it can succeed any more. */
  | "corrupted-session"
  | "auth"
  | "model-not-found"
  /** The CLI does not accept its arguments. */
  | "bad-arguments"
  /** The provider does not accept the request, whatever is tried again. */
  | "bad-request"
  | "quota"
  | "transient"
  | "context-overflow"
  | "step-limit"
  | "refusal"
  /** The output stops before the CLI's final line: our inference, not a report of the CLI. */
  | "truncated"
  | "other";
