import { execFile } from "node:child_process";

/** Runs a program to its end and gives what it printed; a failure says what it said. */
export function run(program: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 64 << 20, ...options }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      reject(new Error(`${program} ${args.join(" ")}: ${stderr.trim() || error.message}`));
    });
  });
}
