// The state of one run: restored before the CLI starts, saved while it runs and when it is over, and what is recorded about it.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cutText } from "../cut-text.ts";
import { answerWithin, type FileTask, startTask } from "../file-task.ts";
import { longTimer, sleep } from "../limits.ts";
import type { MetaRecord, StateEnd, StateSpec } from "../records.ts";
import { startRestore } from "./restore-here.ts";
import type { RestoreAnswer, RestoreCommand } from "./restore-state.ts";
import type { SaveAnswer, SaveCommand } from "./save-state.ts";

export interface StateTools {
  readonly runnerFile: string;
  readonly run: string;
  readonly spec: StateSpec;
  /** The CLI's environment, for the command that prints its version. */
  readonly env: NodeJS.ProcessEnv;
}

/** A save while the CLI runs delays nothing. */
const LONGEST_LIVE_MS = 600_000;
const ERROR_BYTES = 500;
const VERSION_LIMIT_MS = 10_000;
/** The CLI's own start comes before the question for its version. */
const VERSION_DELAY_MS = 2_000;

export class StateKeeper {
  /** Set once the meta file is open. */
  meta: (record: MetaRecord) => void = () => {};
  readonly #tools: StateTools;
  readonly #tag = randomBytes(4).toString("hex");
  readonly #version: () => Promise<string | null>;
  readonly #restoring: FileTask<RestoreAnswer>;
  #began = performance.now();
  #end: Omit<StateEnd, "saved"> = { restored: null, restoreMs: 0, last: null, saveMs: 0, error: null };
  #fingerprint: string | null = null;
  #damaged: readonly string[] = [];
  #live: FileTask<SaveAnswer> | null = null;
  #stopTimer = (): void => {};
  #over = false;
  #liveError: string | null = null;

  /** Begins to restore at once, beside the opening of the run's files. */
  constructor(tools: StateTools) {
    this.#tools = tools;
    this.#version = askOnce(tools.spec.version, tools.env);
    const { saved, home, parts, maxBytes, key, acceptUnsigned } = tools.spec;
    const command: RestoreCommand = { kind: "restore", saved, home, parts, maxBytes, key, acceptUnsigned };
    this.#restoring = startRestore(tools.runnerFile, command);
  }

  /** What keeps the CLI from being started, if anything does. */
  async restored(isStopped: () => boolean): Promise<string | null> {
    const { restoreSec } = this.#tools.spec;
    // A slow volume is no reason to begin without what it holds: as long as it gives more, it is waited for.
    const left = () => this.#restoring.progress().at + restoreSec * 1000 - performance.now();
    const answer = await answerWithin(this.#restoring, () => (isStopped() ? 0 : left()));
    const restoreMs = this.#since();
    this.#end = { ...this.#end, restoreMs };
    if (answer === null && isStopped()) return null;
    if (answer === null) return this.#unreadable(`the volume gave no answer for ${restoreSec} s${readSoFar(this.#restoring)}`);
    if (answer.kind === "failed") return this.#unreadable(answer.error);
    for (const text of answer.notes) this.#note(text);
    const { point, fingerprint, damaged } = answer;
    this.#end = { ...this.#end, restored: point, last: point };
    this.#fingerprint = fingerprint;
    this.#damaged = damaged;
    this.meta({ type: "state", at: now(), act: "restored", point, ms: restoreMs });
    return null;
  }

  /** The CLI runs. */
  watch(): void {
    setTimeout(() => void this.#version(), VERSION_DELAY_MS);
    this.#arm();
  }

  /** From here on nothing is restored, and nothing saved unless `save` is called. */
  halt(): void {
    this.#over = true;
    this.#stopTimer();
    this.#restoring.abandon();
    this.#live?.abandon();
  }

  async save(leftMs: () => number): Promise<void> {
    this.halt();
    this.#began = performance.now();
    const version = await Promise.race([this.#version(), sleep(leftMs() / 4).then(() => null)]);
    const answer = await answerWithin(this.#startSave(version, false), leftMs);
    const saveMs = this.#since();
    this.#end = { ...this.#end, saveMs };
    if (answer === null) this.#fail(`the volume did not take the state within ${(saveMs / 1000).toFixed(1)} s`);
    else if (answer.kind === "failed") this.#fail(`cannot save the state: ${answer.error}`);
    else if (answer.kind === "saved") this.#keep(answer);
  }

  end(): StateEnd {
    return { ...this.#end, saved: this.#end.error === null };
  }

  #arm(): void {
    const { intervalSec } = this.#tools.spec;
    if (intervalSec > 0 && !this.#over) this.#stopTimer = longTimer(intervalSec * 1000, () => void this.#saveLive());
  }

  async #saveLive(): Promise<void> {
    const version = await this.#version();
    if (this.#over) return;
    const began = performance.now();
    this.#live = this.#startSave(version, true);
    const answer = await answerWithin(this.#live, () => (this.#over ? 0 : began + LONGEST_LIVE_MS - performance.now()));
    this.#live = null;
    if (this.#over) return;
    if (answer?.kind === "not-live") return this.#note("the state is saved only at the end: this runtime cannot copy a database in use");
    if (answer?.kind === "saved") {
      this.#keep(answer);
      this.#liveError = null;
      this.meta({ type: "state", at: now(), act: "saved", point: answer.point, ms: Math.round(performance.now() - began) });
    }
    if (answer === null) this.#noteLiveError(`the volume gave no answer for ${LONGEST_LIVE_MS / 1000} s`);
    else if (answer.kind === "failed") this.#noteLiveError(answer.error);
    this.#arm();
  }

  #startSave(version: string | null, live: boolean): FileTask<SaveAnswer> {
    const { runnerFile, spec, run } = this.#tools;
    const { saved, home, parts, maxBytes, key } = spec;
    const known = { fingerprint: this.#fingerprint, from: this.#end.last?.generation ?? null, damaged: this.#damaged };
    const command: SaveCommand = { kind: "save", saved, home, parts, maxBytes, key, version, run, tag: this.#tag, live, ...known };
    return startTask(runnerFile, command);
  }

  #keep(answer: Extract<SaveAnswer, { kind: "saved" }>): void {
    for (const text of answer.notes) this.#note(text);
    this.#end = { ...this.#end, last: answer.point };
    this.#fingerprint = answer.fingerprint;
  }

  /** Not gone, only out of reach: started without it, the CLI's next state would take its place. */
  #unreadable(error: string): string {
    const { saved } = this.#tools.spec;
    return this.#fail(`the saved state cannot be restored: ${error}. To begin anew without it, remove ${saved}`);
  }

  #fail(text: string): string {
    const error = cutText(text, ERROR_BYTES);
    this.#end = { ...this.#end, error };
    return error;
  }

  /** The same error again is not noted twice. */
  #noteLiveError(error: string): void {
    if (error !== this.#liveError) this.#note(cutText(`the state could not be saved while the CLI runs: ${error}`, ERROR_BYTES));
    this.#liveError = error;
  }

  #note(text: string): void {
    this.meta({ type: "note", at: now(), text });
  }

  #since(): number {
    return Math.round(performance.now() - this.#began);
  }
}

const readSoFar = ({ progress }: FileTask<RestoreAnswer>): string => (progress().bytes === 0 ? "" : ` after ${progress().bytes} bytes`);

const now = (): string => new Date().toISOString();

/** Asks for the CLI's version at the first call; null when it cannot be had: the state is worth saving without. */
function askOnce(source: StateSpec["version"], env: NodeJS.ProcessEnv): () => Promise<string | null> {
  if (typeof source === "string" || source === null) return async () => source;
  const [program, ...args] = source;
  const options = { env, timeout: VERSION_LIMIT_MS, killSignal: "SIGKILL", maxBuffer: 64 * 1024 } as const;
  const ask = (): Promise<string | null> =>
    new Promise((resolve) => {
      const child = execFile(program, args, options, (error, stdout) => {
        const line = stdout.split("\n", 1)[0]?.trim();
        resolve(error || !line ? null : cutText(line, 200));
      });
      child.stdin?.end();
    });
  let asked: Promise<string | null> | undefined;
  return () => (asked ??= ask());
}
