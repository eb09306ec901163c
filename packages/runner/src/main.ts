// Entry of the one file that runs in the pod: `node runner.cjs <termination log>`, or one of the runner's own child processes.
import { setFlagsFromString } from "node:v8";
import { signalGroup } from "./cli/process-group.ts";
import { runTask, TASK_FLAG } from "./file-task.ts";
import { RUNNER_EXIT } from "./records.ts";
import { type Guard, notRun, run } from "./run.ts";
import { type SeedCommand, seedHome } from "./seed/seed-home.ts";
import { type RestoreCommand, restoreState } from "./state/restore-state.ts";
import { type SaveCommand, saveState } from "./state/save-state.ts";
import { writeTerminationMessage } from "./termination-message.ts";
import { WRITER_FLAG } from "./writer/protocol.ts";
import { runWriter } from "./writer/volume-writer.ts";

const [, runnerFile = "", argument] = process.argv;

function runInPod(): void {
  const guard: Guard = { group: null, run: "", nonce: "", key: null };
  // Names the kind of error only: its message could quote what must not be logged.
  const fail = (error: unknown): void => {
    if (guard.group !== null) signalGroup(guard.group, "SIGKILL");
    const { name = "Error", code = "" } = (error ?? {}) as NodeJS.ErrnoException;
    const text = `the runner failed: ${name} ${code}`.trim();
    const signal = guard.group === null ? null : "SIGKILL";
    const end = { ...notRun("runner-failed", text), signal };
    writeTerminationMessage(argument, { format: 1, run: guard.run, nonce: guard.nonce, ...end, finalLine: null }, guard.key);
    process.exit(RUNNER_EXIT.failed);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  run({ runnerFile, terminationLog: argument, guard }).then((code) => process.exit(code), fail);
}

function handleTask(command: SeedCommand | RestoreCommand | SaveCommand, onRead: (bytes: number) => void): unknown {
  if (command.kind === "seed") return seedHome(command);
  return command.kind === "restore" ? restoreState(command, onRead) : saveState(command);
}

// `process.exit` joins the compiler's threads while one of them may wait for the main thread to collect garbage, and then never
// ends (nodejs/node#54918; seen in 1 of 18 runs with much output). What the runner does is mostly native code.
for (const flag of ["--no-opt", "--no-maglev", "--no-concurrent-sparkplug"]) setFlagsFromString(flag);
if (argument !== WRITER_FLAG && argument !== TASK_FLAG) runInPod();
else {
  // The runner's own processes end with their work or with the runner, not by a signal meant for the whole group.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  if (argument === WRITER_FLAG) runWriter();
  else runTask(handleTask);
}
