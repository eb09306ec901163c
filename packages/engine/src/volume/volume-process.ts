import { type ChildProcess, spawn } from "node:child_process";
import { volumeText } from "../../generated/volume-text.ts";
import type { FromVolume, ToVolume } from "./protocol.ts";

interface ProcessEvents {
  /** A new process waits for messages; the one before it, if any, has ended. */
  started(): void;
  message(message: FromVolume): void;
  /** No sign of life for too long. */
  stalled(silentMs: number): void;
  back(): void;
}

interface ProcessOptions {
  readonly stallAfterMs: number;
  readonly clock: () => number;
}

/** So many are sent, and looked for, in the time after which their absence counts: each wakes both processes. */
const SIGNS_OF_LIFE = 5;
/** A server that was blocked for this part of that time has not listened. Together with the two intervals that a process may be silent it is less than the whole. */
const BLOCKED = 0.5;
/** What passes through is garbage at once: a large young generation would only be memory, threads for its collection too, and a collection in idle times only CPU time. */
const FLAGS = ["--max-semi-space-size=1", "--single-threaded", "--no-memory-reducer"];
/** For a process to begin: on a busy machine that can take long, and it says nothing about the volume. */
const BEGIN_MS = 60_000;
const firstRestartMs = 20;
const lastRestartMs = 10_000;
/** A process that lived this long did not die of its start. */
const steadyMs = 10_000;

/** Every such process of this server. One stuck in a call to a dead mount would otherwise outlive a server that exits. */
const running = new Set<ChildProcess>();
let killsAtExit = false;

/** The process of one volume: started again when it dies, watched for silence. It does not keep the server alive. */
export class VolumeProcess {
  stalled = false;
  readonly #root: string;
  readonly #options: ProcessOptions;
  readonly #events: ProcessEvents;
  #child: ChildProcess | null = null;
  #watch: NodeJS.Timeout | null = null;
  #restart: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #quickDeaths = 0;
  #hasBegun = false;
  #heardAt = 0;
  #watchedAt = 0;

  constructor(root: string, options: ProcessOptions, events: ProcessEvents) {
    this.#root = root;
    this.#options = options;
    this.#events = events;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  start(): void {
    if (this.#watch !== null) return;
    this.#heardAt = this.#watchedAt = this.#options.clock();
    this.#watch = setInterval(() => this.#checkSilence(), this.#options.stallAfterMs / SIGNS_OF_LIFE).unref();
    this.#spawn();
  }

  /** What cannot be sent is repeated when the next process has started. */
  send(message: ToVolume): void {
    if (this.#child?.connected) this.#child.send(message, () => {});
  }

  /** While somebody waits for an answer the server has a reason to stay. */
  setAwaited(awaited: boolean): void {
    if (awaited) this.#watch?.ref();
    else this.#watch?.unref();
  }

  /**
   * Ends a process that is stuck, so that the next request meets a new one. Its end is not waited for: a call to a dead mount may never
   * return, and then no second process is started to get stuck as well.
   */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  stop(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    clearTimeout(this.#restart);
    this.#watch = null;
    this.stalled = false;
    const child = this.#child;
    this.#child = null;
    if (child === null) return;
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill("SIGKILL"), 1_000).unref();
  }

  #spawn(): void {
    this.#startedAt = this.#options.clock();
    this.#hasBegun = false;
    try {
      this.#child = this.#spawned();
    } catch {
      // No memory, or no process left: some of these errors are thrown, others come as an event.
      this.#retry();
      return;
    }
    this.#events.started();
  }

  #spawned(): ChildProcess {
    const aliveEveryMs = Math.min(1000, this.#options.stallAfterMs / SIGNS_OF_LIFE);
    const child = spawn(process.execPath, [...FLAGS, "--input-type=commonjs", "-e", volumeText, "--", this.#root, String(aliveEveryMs)], {
      // Neither the volume as working directory nor the server's settings and secrets.
      cwd: "/",
      env: process.env.LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    });
    child.unref();
    child.channel?.unref();
    if (child.pid !== undefined) endWithServer(child);
    child.on("message", (message: FromVolume) => this.#child === child && this.#receive(message));
    child.on("exit", () => this.#ended(child));
    child.on("error", () => child.pid === undefined && this.#ended(child));
    return child;
  }

  #ended(child: ChildProcess): void {
    running.delete(child);
    if (this.#child !== child) return;
    this.#child = null;
    this.#retry();
  }

  #retry(): void {
    const lived = this.#options.clock() - this.#startedAt;
    this.#quickDeaths = lived >= steadyMs ? 0 : this.#quickDeaths + 1;
    const wait = Math.min(lastRestartMs, firstRestartMs * 2 ** this.#quickDeaths);
    this.#restart = setTimeout(() => this.#spawn(), wait).unref();
  }

  #receive(message: FromVolume): void {
    this.#heardAt = this.#options.clock();
    this.#hasBegun = true;
    if (this.stalled) {
      this.stalled = false;
      this.#events.back();
    }
    this.#events.message(message);
  }

  #checkSilence(): void {
    const now = this.#options.clock();
    // A server that was itself blocked has not listened: messages that came meanwhile are read first.
    if (now - this.#watchedAt > this.#options.stallAfterMs * BLOCKED) this.#heardAt = now;
    this.#watchedAt = now;
    const silentMs = now - this.#heardAt;
    const begins = this.#child !== null && !this.#hasBegun && this.#quickDeaths === 0;
    if (this.stalled || silentMs < (begins ? BEGIN_MS : this.#options.stallAfterMs)) return;
    this.stalled = true;
    this.#events.stalled(silentMs);
  }
}

function endWithServer(child: ChildProcess): void {
  running.add(child);
  if (killsAtExit) return;
  killsAtExit = true;
  process.on("exit", () => {
    for (const each of running) each.kill("SIGKILL");
  });
}
