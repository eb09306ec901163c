import { join } from "node:path";
import type { RunnerConfig } from "../read-spec.ts";
import { WAKE_UP_FILE, wakeUpToken } from "./datagram.ts";
import type { WakeUpCommand } from "./sender.ts";

/** Whom to tell that the files grow, if the Secret says it; null = without the run's key nobody would believe it. */
export function wakeUpCommand({ key, folder }: RunnerConfig): WakeUpCommand | null {
  return key && { token: wakeUpToken(key).toString("base64url"), addressFile: join(folder, WAKE_UP_FILE) };
}
