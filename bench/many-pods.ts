import { fork } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Pocket } from "@paperclip-k8s/pocket";
import type { PodOrder } from "./synthetic-pods.ts";

/** Many pods of the embedded cluster that only sleep, and one process that writes for them. */
export interface ManyPods {
  readonly image: string;
  /** Resolves when so many have started. */
  started(count: number): Promise<void>;
  /** So many of them write from now on. */
  write(count: number): void;
  /** Ends all; resolves to the number of lines written. */
  end(): Promise<number>;
  stop(): void;
}

let groups = 0;

export async function openManyPods(pocket: Pocket, wakeUps: boolean): Promise<ManyPods> {
  const folder = join(pocket.dir, `synthetic-${++groups}`);
  const registry = join(folder, "pods");
  await mkdir(registry, { recursive: true });
  const program = `#!/bin/sh\necho "$$ $1" > '${registry}'/$$.new && /bin/mv '${registry}'/$$.new '${registry}'/$$\nexec /bin/sleep 100000\n`;
  await writeFile(join(folder, "node"), program);
  await chmod(join(folder, "node"), 0o755);
  const image = `synthetic:${groups}`;
  pocket.images[image] = { path: [folder] };
  const writer = fork(fileURLToPath(new URL("synthetic-pods.ts", import.meta.url)), [registry, String(wakeUps)]);
  let pods = 0;
  let lines: number | null = null;
  const changed = new Set<() => void>();
  writer.on("message", (message: { pods?: number; lines?: number }) => {
    pods = message.pods ?? pods;
    lines = message.lines ?? lines;
    for (const look of changed) look();
  });
  const until = (met: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (!met()) return;
        changed.delete(look);
        resolve();
      };
      changed.add(look);
      look();
    });
  const order = (what: PodOrder): void => void writer.send(what);
  return {
    image,
    started: (count) => until(() => pods >= count),
    write: (count) => order({ writing: count, end: false }),
    end: async () => {
      order({ writing: 0, end: true });
      await until(() => lines !== null);
      return lines ?? 0;
    },
    stop: () => void (writer.connected && writer.disconnect()),
  };
}
