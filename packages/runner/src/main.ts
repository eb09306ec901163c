// Entry of the one file that runs in the pod: `node runner.cjs <termination log>`, or one of the runner's own processes.
import { StopRequest } from "./cli/stop-request.ts";
import { endProcess } from "./file-calls.ts";
import { sleep } from "./limits.ts";
import { openRun } from "./open-run.ts";
import type { Guard } from "./run.ts";

/** A file is created and a line written in less. */
const FIRST_CALLS_MS = 1;

const [, runnerFile = "", argument] = process.argv;

function runInPod(): void {
  const guard: Guard = { group: null, run: "", nonce: "", key: null };
  let failing = false;
  const fail = (error: unknown): void => {
    if (failing) return;
    failing = true;
    void import("./fail-run.ts").then(({ failRun }) => endProcess(failRun(error, guard, argument)));
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const stop = new StopRequest();
  const opened = openRun(runnerFile);
  if (typeof opened !== "string")
    Object.assign(guard, { run: opened.config.spec.run, nonce: opened.config.spec.nonce, key: opened.config.key });
  // Loaded while the volume flushes the lock file, and not before the short calls ahead of that have been made.
  const load = (): Promise<typeof import("./run.ts")> => import("./run.ts");
  sleep(FIRST_CALLS_MS)
    .then(load)
    .then(({ run }) => run({ runnerFile, terminationLog: argument, guard, stop, opened }))
    .then(endProcess, fail);
}

if (argument?.startsWith("--")) void import("./child-main.ts").then(({ runChild }) => runChild(argument));
else runInPod();
