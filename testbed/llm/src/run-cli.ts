import { spawn } from "node:child_process";

export interface CliCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** Ends a CLI that would not end by itself. */
  readonly endAfterSec?: number;
}

export interface CliRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** One run of a real CLI outside any cluster. */
export function runCli({ command, args, cwd, env, stdin, endAfterSec }: CliCall): Promise<CliRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...env } });
    const timer = endAfterSec === undefined ? undefined : setTimeout(() => child.kill("SIGTERM"), endAfterSec * 1000);
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text;
      });
    }
    child.once("error", reject).once("close", (exitCode, signal) => {
      clearTimeout(timer);
      resolve({ ...output, exitCode, signal });
    });
    child.stdin.end(stdin);
  });
}
