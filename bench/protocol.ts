import type { Script } from "./stamp.ts";

// What the bench asks of its server process, and what that answers.

/** Whose agents all are. */
export const BENCH_COMPANY = "bench";

export interface RunAsk {
  readonly kind: "run";
  readonly id: number;
  readonly runId: string;
  readonly agent: string;
  readonly taskKey: string | null;
  /** Runs of another number have an adapter of their own, as after a reload by the host. */
  readonly instance: number;
  readonly script: Script;
  readonly config: Record<string, unknown>;
  /** The run is cancelled when its log says this. */
  readonly until: string | null;
  /** The operator's policy file. */
  readonly policy: string;
  /** Where the host's API listens; null: it has none. */
  readonly hostPort: number | null;
  /** Whether the host cancels by an abort signal; else it has to be asked. */
  readonly hasSignal: boolean;
}

export type Ask =
  | RunAsk
  | { readonly kind: "usage"; readonly id: number }
  | { readonly kind: "delays"; readonly id: number }
  /** Has no answer of its own. */
  | { readonly kind: "cancel"; readonly runId: string };

export interface RunRecord {
  readonly id: number;
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly exitCode: number | null;
  readonly error: string | null;
  readonly log: readonly { readonly at: number; readonly text: string }[];
}

export interface Usage {
  readonly id: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Where its reader listens for wake-ups, as far as that is known. */
  readonly wakeUpAt: Address | null;
}

/** How long the event loop was blocked since the question before; the first question begins the measuring. */
export interface Delays {
  readonly id: number;
  readonly maxMs: number;
  readonly p99Ms: number;
  /** The most CPU time that its thread has used at a stretch. */
  readonly cpuMs: number;
}

export type Answer = RunRecord | Usage | Delays;

export interface Address {
  readonly address: string;
  readonly port: number;
}

/** How a server process is started. */
export interface ServerOptions {
  /** The share of wake-ups that get lost on their way; null: they take the direct way. */
  readonly loss: number | null;
  /** An adapter's entry as the host loads it, in place of the stand-in's. */
  readonly entry: string | null;
}
