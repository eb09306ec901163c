// The data that passes between the engine and the runner: the spec the runner is given, and the records it writes.
import type { SeedSpec, StateEnd, StateRecord, StateSpec } from "./state-records.ts";

export { MAC_BYTES, openSigned, sign } from "./mac.ts";
export type { LeftOut, Seed, SeedSpec, StateEnd, StatePart, StatePoint, StateRecord, StateSpec } from "./state-records.ts";

/** Exit codes of the container that are the runner's own; every other code is the CLI's. */
export const RUNNER_EXIT = {
  /** The spec in the Secret cannot be read or is of another format. */
  badSpec: 212,
  /** Another pod of the same Job has already started the run. */
  alreadyStarted: 213,
  /** The output file cannot be opened; the CLI was not started. */
  noOutput: 214,
  /** The runner itself failed. */
  failed: 215,
  /** There may be a saved state, but it cannot be read; the CLI was not started. */
  noState: 216,
  /** A folder of `writable` cannot be written to; the CLI was not started. */
  notWritable: 217,
  /** The Node that runs the runner is too old for it. */
  oldRuntime: 218,
  /** As in a shell: the CLI is there but may not be run, or is not there. */
  notExecutable: 126,
  notFound: 127,
} as const;

/** What the runner is given: `spec.json` in the run's mounted Secret, beside the runner itself. */
export interface RunnerSpec {
  readonly format: 1;
  readonly run: string;
  readonly nonce: string;
  readonly argv: readonly [string, ...Argument[]];
  /** Secret environment, set over the container's own. */
  readonly env: Readonly<Record<string, string>>;
  /** File in the same folder that becomes the CLI's stdin; null closes stdin at once. */
  readonly stdinFile: string | null;
  /** Folders that follow those of the container's own PATH. */
  readonly path?: readonly string[];
  readonly files: RunFiles;
  /** 0 = no limit; counted from the CLI's start. */
  readonly timeoutSec: number;
  /** SIGTERM to SIGKILL when the time limit is reached. */
  readonly graceSec: number;
  /** SIGTERM to SIGKILL when the pod itself is stopped. */
  readonly stopGraceSec: number;
  /** How long output may take to reach the volume after the CLI is over. */
  readonly drainSec: number;
  /** The same where the CLI has ended and nobody stops the pod, so that nothing but the volume is waited for; absent: `drainSec`. */
  readonly volumeWaitSec?: number;
  readonly finalLine: FinalLine | null;
  /** null or absent: the home begins empty. */
  readonly seed?: SeedSpec | null;
  /** null or absent: nothing is restored and nothing is saved. */
  readonly state?: StateSpec | null;
  /** Each has a condition of its own. */
  readonly defaults?: readonly CliDefaults[];
  /** Folders the CLI could not do without: they, and what lies in them, must be writable. */
  readonly writable?: readonly string[];
  /** Key of the MACs of this run's records, base64url; absent: records are not signed. */
  readonly key?: string;
  /** The CLI is ended when its output is longer; absent: no limit. */
  readonly outputBytes?: number;
  /** null or absent: the CLI talks to its API by itself. */
  readonly relay?: RelaySpec | null;
  /** Node scripts in the spec's folder, by the names of the programs before which they stand in the CLI's PATH; absent: none. */
  readonly programs?: Programs;
}

export type Programs = Readonly<Record<string, { readonly file: string }>>;

/** What the CLI gets unless one of these paths is there or one of these variables set: then somebody has settings of their own for it. */
export interface CliDefaults {
  /** Absolute, or below the home. */
  readonly unless: readonly string[];
  /** Names; absent: none. */
  readonly unlessSet?: readonly string[];
  /** Set unless the pod has the variable already; `{ file }` stands for the path of a file in the spec's folder. */
  readonly env: Readonly<Record<string, Argument>>;
  /** Texts of files by their paths below the home; one that is there stays. */
  readonly files: Readonly<Record<string, string>>;
}

/** A relay on loopback between the CLI and its API: it acts as the run that the mounted Secret names at the time of each request. */
export interface RelaySpec {
  /** Base URL, http or https; nothing else can be reached through the relay. */
  readonly target: string;
  /** Variable of the CLI that is set to the relay's URL, with the target's path. */
  readonly urlEnv: string;
  /** Variable of the CLI that holds its token. */
  readonly tokenEnv: string;
  /** File in the spec's folder with `RelayCredentials` as JSON; read anew for each request. */
  readonly credentialsFile: string;
  /** Names of the header with the bearer token and of the header with the run's id. */
  readonly headers: { readonly authorization: string; readonly runId: string };
  /** An answer with one of these statuses and a body that matches was not carried out: it is asked again, with the credentials of that time. */
  readonly retry: {
    readonly statuses: readonly number[];
    /** JavaScript regular expression. */
    readonly bodyPattern: string;
    /** Per request, refused connections included; then the last answer is passed on. */
    readonly maxSec: number;
  };
  /** Longer request bodies are passed on as they come and cannot be sent again. */
  readonly maxReplayBytes: number;
}

export interface RelayCredentials {
  readonly token: string;
  readonly runId: string;
  /** Further headers, by name: a request that shows a token of the run and one of these is sent with this value. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An argument as it is, or the path of a file in the spec's folder. */
export type Argument = string | { readonly file: string };

/** The three files of a run on the shared volume. The server creates output and meta, the pod the lock file. */
export interface RunFiles {
  /** The CLI's stdout bytes and nothing else. */
  readonly output: string;
  /** NDJSON of `MetaRecord`. */
  readonly meta: string;
  /** Created with O_EXCL: one pod per run, ever. */
  readonly lock: string;
}

/** Made with O_EXCL by the pod just before it starts the CLI, or by a server that cancels the run before: whoever makes it first decides. */
export const startFileOf = ({ lock }: Pick<RunFiles, "lock">): string => `${lock}.start`;

export interface FinalLine {
  /** JavaScript regular expression; the last line of stdout that matches it goes into the termination message. */
  readonly pattern: string;
  /** End the CLI and what it left behind this long after such a line; null = wait for the CLI. */
  readonly endAfterSec: number | null;
  /** A line after which the CLI is at work again, so that nothing is ended. */
  readonly takenBackBy?: string;
}

/** In a signed run each record has also `seq`, which counts up, and `mac` as its last field (mac.ts). */
export type MetaRecord = StartRecord | CliStartedRecord | StderrRecord | NoteRecord | StateRecord | EndRecord;

/** First record of the meta file: whose output this is. */
export interface StartRecord {
  readonly type: "start";
  readonly at: string;
  readonly run: string;
  readonly nonce: string;
  /** The pod's own name (its host name). */
  readonly pod: string;
  readonly runtime: string;
}

export interface CliStartedRecord {
  readonly type: "cli-started";
  readonly at: string;
  readonly pid: number;
}

export interface StderrRecord {
  readonly type: "stderr";
  readonly at: string;
  /** One or more whole lines, or a piece of a long one. */
  readonly text: string;
}

/** Something the runner did that a reader of the run should know. */
export interface NoteRecord {
  readonly type: "note";
  readonly at: string;
  readonly text: string;
}

/**
 * Why the CLI is over: by itself, at the limit of its time or of its output, stopped from outside, ended after its final line, or never started.
 * `runner-failed`: killed with the runner if it had started (SIGKILL), and nothing was counted.
 */
export type EndCause = "exit" | "timeout" | "output-limit" | "stopped" | "final-line" | "spawn-failed" | "runner-failed";

/** Last record of the meta file, written when every byte of output is flushed: proof of how the run ended. */
export interface EndRecord extends CliEnd {
  readonly type: "end";
  readonly at: string;
  /** stderr bytes beyond what the meta file keeps. */
  readonly stderrDropped: number;
  /** Processes that outlived the CLI and were ended. */
  readonly leftoversEnded: boolean;
  readonly cpuMs: number | null;
}

/** How the CLI ended, as far as the runner saw it. */
export interface CliEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly cause: EndCause;
  /** stdout bytes the CLI wrote, up to the output's limit. */
  readonly bytes: number;
  /** stdout bytes that reached the output file: less than `bytes` when the volume failed or stalled. */
  readonly written: number;
  /** SHA-256 of the first `written` bytes of the output file, in hex; null or absent = not known. */
  readonly outputSha256?: string | null;
  /** Newlines among `bytes`. */
  readonly lines: number;
  /** Kernel OOM kills in the container's cgroup since it began, where that can be read. */
  readonly oomKills: number | null;
  readonly peakMemoryBytes: number | null;
  /** What the container may use; null also where there is no limit. */
  readonly memoryLimitBytes: number | null;
  /** What kept the CLI from starting, or the output from being written. */
  readonly error: string | null;
  /** Absent when the spec names no state. */
  readonly state?: StateEnd;
}

/** The container's termination message: JSON of at most 4,096 bytes, in a signed run with `mac` as its last field. */
export interface TerminationMessage extends CliEnd {
  readonly format: 1;
  readonly run: string;
  readonly nonce: string;
  /** Last stdout line that matches `finalLine.pattern`, at most 2,048 bytes. */
  readonly finalLine: string | null;
}
