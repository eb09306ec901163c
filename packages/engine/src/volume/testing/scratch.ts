// A folder that stands for a shared volume, and what tests need to watch its process.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openVolume, type Volume, type VolumeOptions, volumePid } from "../volume.ts";

export interface Scratch {
  readonly root: string;
  readonly path: (name: string) => string;
  readonly open: (options?: VolumeOptions) => Volume;
  readonly pid: () => number;
  /** Releases every user and waits until process and folder are gone. */
  readonly end: () => Promise<void>;
}

export function scratch(): Scratch {
  const root = mkdtempSync(join(tmpdir(), "output-"));
  const volumes: Volume[] = [];
  const seen = new Set<number>();
  const pid = (): number => {
    const found = volumePid(root);
    if (found === null) throw new Error("no volume process");
    seen.add(found);
    return found;
  };
  return {
    root,
    path: (name) => join(root, name),
    open: (options) => {
      const volume = openVolume(root, { lingerMs: 0, ...options });
      volumes.push(volume);
      return volume;
    },
    pid,
    end: async () => {
      if (volumePid(root) !== null) pid();
      for (const volume of volumes) volume.release();
      await until(() => [...seen].every((each) => !isAlive(each)));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A zombie counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

const HANG_MS = 120_000;

export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + HANG_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`still not after ${HANG_MS} ms: ${condition}`);
    await sleep(5);
  }
}

/** A consumer that keeps what it gets. */
export function collector(): { readonly onBytes: (bytes: Buffer) => void; readonly text: () => string; readonly bytes: () => Buffer } {
  const got: Buffer[] = [];
  const bytes = (): Buffer => Buffer.concat(got);
  return { onBytes: (each) => void got.push(Buffer.from(each)), bytes, text: () => bytes().toString() };
}
