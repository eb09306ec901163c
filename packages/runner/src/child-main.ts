// The runner's own processes: one writes the run's files, the others do one piece of work on files.
import { keepExitSafe } from "./exit-flags.ts";
import { runTask } from "./file-task.ts";
import { type SeedCommand, seedHome } from "./seed/seed-home.ts";
import { type RestoreCommand, restoreState } from "./state/restore-state.ts";
import { type SaveCommand, saveState } from "./state/save-state.ts";
import { WRITER_FLAG } from "./writer/protocol.ts";
import { runWriter } from "./writer/volume-writer.ts";

export function runChild(flag: string): void {
  keepExitSafe();
  // They end with their work or with the runner, not by a signal meant for the whole group.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
  if (flag === WRITER_FLAG) runWriter();
  else runTask(handleTask);
}

function handleTask(command: SeedCommand | RestoreCommand | SaveCommand, onRead: (bytes: number) => void): unknown {
  if (command.kind === "seed") return seedHome(command);
  return command.kind === "restore" ? restoreState(command, onRead) : saveState(command);
}
