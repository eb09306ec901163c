// The CLI's stdout and stderr on their way to the volume, to the container's log, and past the line scan.
import { cutText } from "../cut-text.ts";
import { LIMITS, sleep } from "../limits.ts";
import type { RunnerConfig } from "../read-spec.ts";
import type { LogCopy } from "../writer/log-copy.ts";
import type { WriterLink } from "../writer/writer-link.ts";
import { drainEnd, drainTime, notTaken } from "./drain-time.ts";
import { endLeftovers } from "./end-cli.ts";
import type { LineScan } from "./line-scan.ts";
import type { Cli } from "./start-cli.ts";
import { StderrPieces } from "./stderr-pieces.ts";
import type { StopRequest } from "./stop-request.ts";

export interface OutputTargets {
  readonly config: RunnerConfig;
  readonly link: WriterLink;
  readonly stdoutCopy: LogCopy;
  readonly stderrCopy: LogCopy;
}

export interface OutputEnd {
  readonly bytes: number;
  /** Bytes beyond the output's limit: they were read and not kept. */
  readonly cut: number;
  readonly lines: number;
  readonly finalLine: string | null;
  readonly stderrDropped: number;
  /** What processes that outlived the CLI wrote to stdout after its end. */
  readonly late: LateOutput;
}

export interface LateOutput {
  readonly bytes: number;
  /** Its beginning. */
  readonly text: string;
}

/** Whether the volume or the container's log still holds up the reading, and may. */
type Held = () => boolean;

/** More than a pipe and the stream that reads it can hold. */
const PIPE_BYTES = 2 * 1024 * 1024;

export class CliOutput {
  readonly #to: OutputTargets;
  readonly #cli: Cli;
  readonly #scan: LineScan;
  readonly #stderr = new StderrPieces();
  #drained = false;
  /** The CLI has exited after its final line, and all that it wrote is read: what follows is written by others. */
  #closed = false;
  #cut = 0;
  readonly #onLimit: () => void;
  #late: LateOutput = { bytes: 0, text: "" };

  /** `onLimit`: the CLI has written more than its output may have. */
  constructor(to: OutputTargets, cli: Cli, scan: LineScan, onLimit: () => void) {
    this.#to = to;
    this.#cli = cli;
    this.#scan = scan;
    this.#onLimit = onLimit;
    void cli.drained.then(() => {
      this.#drained = true;
    });
    const { link, stdoutCopy, stderrCopy } = to;
    cli.stdout.on("data", (chunk: Buffer) => {
      if (this.#closed) {
        this.#keepLate(chunk);
        stdoutCopy.write(chunk);
        return;
      }
      const kept = this.#withinLimit(chunk);
      if (kept.length === 0) return;
      scan.feed(kept);
      link.output(kept);
      stdoutCopy.write(kept);
    });
    cli.stderr.on("data", (chunk: Buffer) => {
      this.#record(this.#stderr.feed(chunk));
      stderrCopy.write(chunk);
    });
    const hold = (): void => void (link.backlog.full || stdoutCopy.backlog.full ? cli.stdout.pause() : cli.stdout.resume());
    link.backlog.onFull = hold;
    stdoutCopy.backlog.onFull = hold;
    stderrCopy.backlog.onFull = (full) => void (full ? cli.stderr.pause() : cli.stderr.resume());
  }

  /** Reads what is still in the pipes and ends what outlived the CLI; the number of such processes. */
  async readToEnd(overAt: number, stop: StopRequest): Promise<number> {
    const { config, link, stdoutCopy, stderrCopy } = this.#to;
    const drainMs = drainTime(config);
    const held: Held = () =>
      (link.backlog.full && performance.now() < drainEnd(config, stop, overAt, 0.5)) ||
      ([stdoutCopy, stderrCopy].some(({ backlog }) => backlog.full) && performance.now() < overAt + drainMs / 2);
    const allRead = await this.#readWhatIsThere(held);
    // Without a final line a filter behind the CLI may still hold it back: what it writes counts.
    this.#closed = allRead && this.#scan.finalLine !== null;
    if (!this.#closed) await this.#drainedWithin(Math.min(config.waits.leftoverMs, drainMs / 4));
    await this.#while(held);
    stdoutCopy.giveUp();
    stderrCopy.giveUp();
    if (!this.#drained && link.backlog.full) link.giveUp(notTaken(overAt));
    const ended = await endLeftovers(this.#cli.pid, Math.min(config.waits.leftoverKillMs, drainMs / 4));
    if (!this.#drained) await this.#drainedWithin(250);
    this.#cli.abandon();
    return ended;
  }

  end(): OutputEnd {
    this.#scan.end();
    this.#record(this.#stderr.end());
    const { bytes, lines, finalLine } = this.#scan;
    return { bytes, cut: this.#cut, lines, finalLine, stderrDropped: this.#stderr.dropped, late: this.#late };
  }

  /** True when all that the CLI wrote is read: a turn of the event loop found the pipe empty, or more came than a pipe can hold. */
  async #readWhatIsThere(held: Held): Promise<boolean> {
    const { link, stdoutCopy, stderrCopy } = this.#to;
    const most = this.#read + PIPE_BYTES;
    for (let before = -1; !this.#drained && this.#read > before && this.#read <= most; ) {
      await this.#while(held);
      if ([link, stdoutCopy, stderrCopy].some(({ backlog }) => backlog.full)) return false;
      before = this.#read;
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    return true;
  }

  /** A slow volume or log is no leftover: as long as it holds up the reading, the wait goes on. */
  async #while(held: Held): Promise<void> {
    while (!this.#drained && held()) await this.#drainedWithin(20);
  }

  #drainedWithin(ms: number): Promise<unknown> {
    return Promise.race([this.#cli.drained, sleep(ms)]);
  }

  /** Bytes that the CLI wrote, kept or not. */
  get #read(): number {
    return this.#scan.bytes + this.#cut;
  }

  /** What is beyond the limit is still read: a CLI that cannot write could not end by itself. */
  #withinLimit(chunk: Buffer): Buffer {
    const room = (this.#to.config.spec.outputBytes ?? Number.POSITIVE_INFINITY) - this.#scan.bytes;
    if (chunk.length <= room) return chunk;
    if (this.#cut === 0) this.#onLimit();
    this.#cut += chunk.length - room;
    return chunk.subarray(0, room);
  }

  #keepLate(chunk: Buffer): void {
    const { bytes, text } = this.#late;
    this.#late = { bytes: bytes + chunk.length, text: cutText(text + chunk.toString("utf8", 0, LIMITS.lateOutput), LIMITS.lateOutput) };
  }

  #record(texts: readonly string[]): void {
    for (const text of texts) this.#to.link.meta({ type: "stderr", at: new Date().toISOString(), text });
  }
}
