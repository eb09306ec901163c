import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { RunOutcome, StatusLine, Timeouts } from "@paperclip-k8s/engine";
import type { Bed } from "./bed.ts";

export interface ServerRun {
  readonly runId: string;
  /** Runs of one key take turns. */
  readonly key: string;
  readonly script: string;
  /** Runs whose Job it may take over. */
  readonly continues: readonly string[];
  /** Runs whose end is on record: a Job of theirs that is over may go. */
  readonly recorded?: readonly string[];
}

export interface ServerOrder {
  readonly bed: { readonly kubeconfig: string; readonly data: string; readonly namespace: string; readonly agent: string };
  readonly runs: readonly ServerRun[];
  readonly timeouts: Partial<Timeouts>;
  readonly lingerMs: number;
  /** After SIGTERM, until the test ends it. */
  readonly livesOn: boolean;
  /** How far its clock is ahead; null = it has the system's. */
  readonly clockFile: string | null;
}

type ServerOptions = Partial<Pick<ServerOrder, "timeouts" | "lingerMs" | "livesOn">> & {
  /** One that the test can move on. */
  readonly ownClock?: boolean;
};

export type ServerNews =
  | { readonly event: "output"; readonly runId: string; readonly text: string }
  | { readonly event: "done"; readonly runId: string; readonly outcome: RunOutcome; readonly status: readonly StatusLine[] }
  | { readonly event: "status"; readonly runId: string; readonly text: string }
  /** It got SIGTERM and lives on. */
  | { readonly event: "ending" };

/** Less than the limit of a test, which would not say what it waited for. With LONG a Job's Secret is waited for (120 s) before a minute's work. */
const HANG_MS = process.env.LONG ? 600_000 : 150_000;

export interface Finished {
  readonly outcome: RunOutcome;
  readonly status: readonly StatusLine[];
  readonly output: string;
}

const MAIN = fileURLToPath(new URL("server-main.ts", import.meta.url));

/** A server with live runs in a process of its own, to be killed for real. */
export class ServerProcess {
  readonly finished = new Map<string, Finished>();
  readonly #child: ChildProcess;
  readonly #output = new Map<string, string>();
  readonly #status = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #exited: Promise<void>;
  readonly #clockFile: string | null;
  #aheadMs = 0;
  #ending = false;
  #gone = false;

  constructor(bed: Bed, runs: readonly ServerRun[], options: ServerOptions = {}) {
    const { kubeconfig, data, namespace, images } = bed;
    const { timeouts = {}, lingerMs = 0, livesOn = false, ownClock = false } = options;
    this.#clockFile = ownClock ? `${data}/clock-${randomUUID()}` : null;
    this.advance(0);
    const its = { kubeconfig, data, namespace, agent: images.agent };
    const order: ServerOrder = { bed: its, runs, timeouts, lingerMs, livesOn, clockFile: this.#clockFile };
    this.#child = spawn(process.execPath, [MAIN, JSON.stringify(order)], { stdio: ["pipe", "pipe", "inherit"] });
    let rest = "";
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(JSON.parse(line) as ServerNews);
    });
    this.#exited = new Promise((resolve) => {
      this.#child.on("close", () => {
        this.#gone = true;
        this.#changed();
        resolve();
      });
    });
  }

  /** Frozen: no CPU until it goes on. */
  freeze = (): boolean => this.#child.kill("SIGSTOP");
  goOn = (): boolean => this.#child.kill("SIGCONT");

  /** Its own clock jumps, also while it is frozen, as if it had stood still for so long. */
  advance(ms: number): void {
    if (this.#clockFile === null) return;
    this.#aheadMs += ms;
    // It reads all of the old number or all of the new one.
    writeFileSync(`${this.#clockFile}-next`, String(this.#aheadMs));
    renameSync(`${this.#clockFile}-next`, this.#clockFile);
  }

  output(runId: string): string {
    return this.#output.get(runId) ?? "";
  }

  /** Resolves when the output of the run so far contains the text; rejects when it ends without. */
  async saw(runId: string, text: string): Promise<void> {
    const has = () => this.output(runId).includes(text);
    await this.#until(() => has() || this.finished.has(runId), `run ${runId} to write ${JSON.stringify(text)}`);
    const kind = this.finished.get(runId)?.outcome.kind;
    if (!has()) throw new Error(`run ${runId} ended (${kind}) without ${JSON.stringify(text)} in its output`);
  }

  /** Resolves when a status line of the run contains the text. */
  heard(runId: string, text: string): Promise<void> {
    return this.#until(() => this.#status.get(runId)?.includes(text) ?? false, `run ${runId} to say ${JSON.stringify(text)}`);
  }

  async done(runId: string): Promise<Finished> {
    await this.#until(() => this.finished.has(runId), `run ${runId} to end`);
    return this.finished.get(runId)!;
  }

  /** SIGTERM to one that lives on; resolves when it knows. */
  async askToEnd(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#until(() => this.#ending, "it to notice SIGTERM");
  }

  /** Resolves when it has ended by itself. */
  async end(): Promise<void> {
    this.#child.stdin?.end();
    await this.#exited;
  }

  /** Resolves when the process is gone and all it said was heard. */
  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    this.#child.kill(signal);
    await this.#exited;
  }

  #hear(news: ServerNews): void {
    if (news.event === "output") this.#output.set(news.runId, this.output(news.runId) + news.text);
    if (news.event === "status") this.#status.set(news.runId, `${this.#status.get(news.runId) ?? ""}${news.text}\n`);
    if (news.event === "ending") this.#ending = true;
    if (news.event === "done") {
      const { outcome, status } = news;
      this.finished.set(news.runId, { outcome, status, output: this.output(news.runId) });
    }
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #until(condition: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition() && !this.#gone) return;
        this.#listeners.delete(look);
        clearTimeout(hang);
        if (condition()) resolve();
        else reject(new Error(`the server is gone; it was waited for ${what}`));
      };
      const hang = setTimeout(() => reject(new Error(`waited in vain for ${what}; heard: ${JSON.stringify([...this.#status])}`)), HANG_MS);
      this.#listeners.add(look);
      look();
    });
  }
}
