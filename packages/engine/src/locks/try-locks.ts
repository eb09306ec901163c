import { execFile } from "node:child_process";
import { locksText } from "../../generated/locks-text.ts";
import { type LockFinding, readFinding } from "./judge-locks.ts";

const TIMEOUT_MS = 8_000;

/** Tries whether SQLite can lock files in a folder, which is made, below a root, which is not. Ends in time, also where a lock never does. */
export function tryLocks(root: string, folder: string, timeoutMs: number = TIMEOUT_MS): Promise<LockFinding> {
  const args = ["--no-warnings", "--input-type=commonjs", "-e", locksText, "--", root, folder];
  const env = process.env.LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { cwd: "/", env }, (error, stdout) => {
      clearTimeout(timer);
      resolve(error === null ? readFinding(stdout) : { kind: "unknown", reason: error.message.slice(0, 200) });
    });
    // One that hangs in a call to a dead mount ends when that call does; nobody waits for it.
    const timer = setTimeout(() => {
      resolve({ kind: "broken", reason: `a lock was not answered within ${timeoutMs / 1000} s` });
      child.kill("SIGKILL");
      child.unref();
    }, timeoutMs);
  });
}
