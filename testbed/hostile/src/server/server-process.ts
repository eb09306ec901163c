import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { ExecutionResult } from "@paperclip-k8s/paperclip";
import type { Call, Command, News } from "./protocol.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

/** A run of the server, as the host sees it. */
export interface ServerRun {
  readonly runId: string;
  readonly done: Promise<ExecutionResult>;
  /** The log so far. */
  log(): string;
  prompt(): string;
  isOver(): boolean;
  cancel(): void;
  /** Resolves when the log contains the text; rejects when the run ends without. */
  saw(text: string): Promise<void>;
}

interface Heard {
  log: string;
  prompt: string;
  result: ExecutionResult | null;
}

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #heard = new Map<string, Heard>();
  readonly #listeners = new Set<() => void>();
  #ready = false;
  #gone: string | null = null;
  #stderr = "";

  private constructor(program: string, env: NodeJS.ProcessEnv) {
    // Little memory, so that what is read without a limit shows.
    const args = ["--max-old-space-size=192", MAIN, program];
    this.#child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    let rest = "";
    this.#child.stdin?.on("error", () => {});
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(JSON.parse(line) as News);
    });
    this.#child.on("close", (code, signal) => {
      this.#gone = `the server ended (${signal ?? code}): ${this.#stderr}`;
      this.#changed();
    });
  }

  static async start(program: string, env: NodeJS.ProcessEnv): Promise<ServerProcess> {
    const server = new ServerProcess(program, env);
    await server.#until(() => server.#ready);
    return server;
  }

  /** Null = it lives; else how it ended. */
  get gone(): string | null {
    return this.#gone;
  }

  run(call: Omit<Call, "runId" | "token"> & Partial<Call>): ServerRun {
    const runId = call.runId ?? randomUUID();
    const heard: Heard = { log: "", prompt: "", result: null };
    this.#heard.set(runId, heard);
    this.#send({ do: "run", call: { token: `token-of-${runId}`, ...call, runId } });
    const done = this.#until(() => heard.result !== null).then(() => heard.result!);
    done.catch(() => {});
    return {
      runId,
      done,
      log: () => heard.log,
      prompt: () => heard.prompt,
      isOver: () => heard.result !== null,
      cancel: () => this.#send({ do: "cancel", runId }),
      saw: async (text) => {
        await this.#until(() => heard.log.includes(text) || heard.result !== null);
        if (!heard.log.includes(text))
          throw new Error(`the run ended without ${JSON.stringify(text)}: ${JSON.stringify(heard.result)}\n${heard.log}`);
      },
    };
  }

  /** Ends it without a word, as a crash would. */
  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#until(() => this.#gone !== null).catch(() => {});
  }

  #send(command: Command): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  #hear(news: News): void {
    if (news.event === "ready") this.#ready = true;
    else {
      const heard = this.#heard.get(news.runId);
      if (heard === undefined) return;
      if (news.event === "log") heard.log += news.chunk;
      if (news.event === "prompt") heard.prompt += news.text;
      if (news.event === "result") heard.result = news.result;
    }
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!condition() && this.#gone === null) return;
        this.#listeners.delete(look);
        if (condition()) resolve();
        else reject(new Error(this.#gone ?? ""));
      };
      this.#listeners.add(look);
      look();
    });
  }
}
