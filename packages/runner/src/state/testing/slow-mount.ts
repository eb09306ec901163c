// A volume that gives its bytes slowly, or none at all for a while: bindfs, with a limit or stopped. For tests.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../testing/runner-fixture.ts";
import { makeFolder } from "./state-fixture.ts";

const unmounts: (() => Promise<void>)[] = [];

export interface SlowMount {
  readonly at: string;
  /** Stopped, every call on the mount waits; `kill -STOP` and `kill -CONT` work from a script too. */
  readonly pid: number;
}

export async function mountSlow(folder: string, bytesPerSec = 0): Promise<SlowMount> {
  const at = join(makeFolder(), "slow");
  mkdirSync(at);
  // Ends with this process however that ends: its stdin is closed then, and the mount is removed.
  const rate = bytesPerSec === 0 ? "" : `--read-rate=${bytesPerSec}`;
  const script = `bindfs -f ${rate} "$1" "$2" & echo $!; read -r _; kill -CONT $!; umount -l "$2"; wait`;
  const keeper = spawn("sh", ["-c", script, "sh", folder, at], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(keeper, "exit");
  unmounts.push(async () => {
    keeper.stdin.end();
    await ended;
  });
  const [pid] = (await once(keeper.stdout, "data")) as [Buffer];
  await waitFor(() => readFileSync("/proc/self/mounts", "utf8").includes(` ${at} fuse`), "the mount");
  return { at, pid: Number(pid.toString()) };
}

/** For `afterAll`. */
export async function unmountAll(): Promise<void> {
  for (const unmount of unmounts.splice(0)) await unmount();
}

/** Without root there is nothing to mount a volume with. */
export function mayMountFuse(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/dev/fuse")) return false;
  try {
    execFileSync("bindfs", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
