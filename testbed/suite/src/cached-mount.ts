import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { onKube } from "./bed.ts";

/** A mount that shows a folder with attributes as old as its cache allows. */
export interface CachedMount {
  /** Stops the process behind the mount: calls on it hang until `thaw`. */
  freeze(): void;
  thaw(): void;
  unmount(): Promise<void>;
}

/** Why no such mount can be made here; null = it can. */
export function whyNoCachedMount(): string | null {
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root to mount";
  if (!existsSync("/dev/fuse")) return "needs /dev/fuse";
  // `npm test` installs nothing on a machine.
  return isInstalled() || mayInstall ? null : "needs bindfs";
}

const mayInstall = onKube || process.env.LONG !== undefined;

export async function mountCached(folder: string, at: string, cacheSec: number): Promise<CachedMount> {
  if (!isInstalled()) execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "bindfs", "fuse3"], { stdio: "ignore" });
  await mkdir(at, { recursive: true });
  const cache = `attr_timeout=${cacheSec},entry_timeout=${cacheSec},negative_timeout=${cacheSec}`;
  // Ends with this process however that ends: its stdin is closed then, and the mount is removed.
  const script = `bindfs -f -o ${cache} "$1" "$2" >/dev/null & echo $!; read -r _; umount -l "$2"; wait`;
  const keeper = spawn("sh", ["-c", script, "sh", folder, at], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const [daemon] = (await once(keeper.stdout, "data")) as [Buffer];
  const signal = (name: NodeJS.Signals) => void process.kill(Number(daemon.toString()), name);
  const unmount = async () => {
    if (keeper.exitCode !== null || keeper.signalCode !== null) return;
    keeper.stdin.end();
    await once(keeper, "exit");
  };
  for (let wait = 0; !isMounted(at); wait++) {
    if (wait > 200) {
      await unmount();
      throw new Error(`bindfs has not mounted ${at} after 10 s`);
    }
    await sleep(50);
  }
  return { freeze: () => signal("SIGSTOP"), thaw: () => signal("SIGCONT"), unmount };
}

function isInstalled(): boolean {
  try {
    execFileSync("bindfs", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export function isMounted(path: string): boolean {
  return readFileSync("/proc/self/mounts", "utf8").includes(` ${path} fuse`);
}
