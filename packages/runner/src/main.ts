// Entry of the one file that runs in the pod: `<runtime> runner.cjs <termination log>`, or one of its own processes.
import { mountedPath } from "./cli/mounted-path.ts";
import { signalGroup } from "./cli/process-group.ts";
import { RUNNER_EXIT } from "./records.ts";
import { type Guard, notRun, run } from "./run.ts";
import { keepCompilerOnMainThread } from "./single-thread.ts";
import { runStateProcess, STATE_FLAG } from "./state/state-process.ts";
import { writeTerminationMessage } from "./termination-message.ts";
import { runWriter, WRITER_FLAG } from "./writer/writer-process.ts";

const [, runnerFile = "", argument] = process.argv;

function runInPod(): void {
  const guard: Guard = { group: null, run: "", nonce: "" };
  // Names the kind of error only: its message could quote what must not be logged.
  const fail = (error: unknown): void => {
    if (guard.group !== null) signalGroup(guard.group, "SIGKILL");
    const { name = "Error", code = "" } = (error ?? {}) as NodeJS.ErrnoException;
    const text = `the runner failed: ${name} ${code}`.trim();
    const signal = guard.group === null ? null : "SIGKILL";
    const end = { ...notRun("runner-failed", text), signal };
    writeTerminationMessage(argument, { format: 1, run: guard.run, nonce: guard.nonce, ...end, finalLine: null });
    process.exit(RUNNER_EXIT.failed);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  run({ runnerFile: mountedPath(runnerFile), terminationLog: argument, guard }).then((code) => process.exit(code), fail);
}

keepCompilerOnMainThread();
if (argument === WRITER_FLAG) runWriter();
else if (argument === STATE_FLAG) runStateProcess();
else runInPod();
