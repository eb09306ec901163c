// A pod with a home of its own and a folder for saved state on a "volume". For tests.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runnerText } from "../../../generated/text.ts";
import { signalGroup } from "../../cli/process-group.ts";
import type { TaskFailure } from "../../file-task.ts";
import type { StatePart, StateSpec } from "../../records.ts";
import { type Ended, type Options, type Pod, preparePod, processesWith, type RunningRunner } from "../../testing/runner-fixture.ts";
import { type RestoreAnswer, type RestoreCommand, restoreState } from "../restore-state.ts";
import type { SaveAnswer, SaveCommand } from "../save-state.ts";

const folders: string[] = [];

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "runner-state-"));
  folders.push(folder);
  return folder;
}

/** For `afterAll`. */
export function cleanUpFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export const FILES: StatePart = { kind: "files", path: "data/files" };
export const DATABASE: StatePart = { kind: "sqlite", path: "data/some.db" };

export function stateSpec(saved: string, over: Partial<StateSpec> = {}): StateSpec {
  const home = join(makeFolder(), "home");
  mkdirSync(home);
  const times = { intervalSec: 0, restoreSec: 120, saveSec: 120 };
  return { saved, home, parts: [FILES, DATABASE], version: null, maxBytes: 200 * 1024 * 1024, ...times, ...over };
}

/** A pod whose CLI runs in its home, as `sh`, unless another is given. */
export function statePod(state: StateSpec, script: string, options: Partial<Options> = {}): Pod {
  const argv = ["/bin/sh", "-c", `cd '${state.home}'; mkdir -p data/files; ${script}`] as const;
  return preparePod({ argv, ...options, spec: { ...options.spec, state } });
}

/** What a pod's end without a word does: nothing of it lives on. */
export async function killPod(pod: Pod, running: RunningRunner): Promise<Ended> {
  running.process.kill("SIGKILL");
  const ended = await running.ended;
  for (const record of ended.meta) if (record.type === "cli-started") signalGroup(record.pid, "SIGKILL");
  for (const pid of processesWith(pod.folder)) kill(pid);
  return ended;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}

/** A process of the real runner that saves, to be killed or run beside others. */
export function startSave(command: Partial<SaveCommand> & Pick<SaveCommand, "saved" | "home">): {
  kill: () => void;
  answer: Promise<SaveAnswer | TaskFailure | null>;
} {
  const runner = join(command.home, "..", "runner.cjs");
  writeFileSync(runner, runnerText);
  const base = { kind: "save", parts: [FILES, DATABASE], maxBytes: 1e9, version: null, run: "run-1", tag: "00000001" } as const;
  const child = spawn(process.execPath, [runner, "--task"], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  child.send({ ...base, live: false, fingerprint: null, from: null, damaged: [], ...command }, () => {});
  const answer = new Promise<SaveAnswer | TaskFailure | null>((resolve) => {
    child.on("message", (message: { answer?: SaveAnswer | TaskFailure }) => message.answer && resolve(message.answer));
    child.on("close", () => resolve(null));
  });
  return { kill: () => child.kill("SIGKILL"), answer };
}

/** What a pod would find now, in a new home. */
export function restoreAnew(saved: string, over: Partial<RestoreCommand> = {}): RestoreAnswer & { readonly home: string } {
  const home = join(makeFolder(), "home");
  return { home, ...restoreState({ kind: "restore", saved, home, parts: [FILES, DATABASE], maxBytes: 200 * 1024 * 1024, ...over }) };
}

export const generationsIn = (saved: string): string[] => readdirSync(saved).filter((name) => name.endsWith(".tar"));
