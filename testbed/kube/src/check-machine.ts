import { existsSync } from "node:fs";
import { run } from "./run.ts";

/** Says in one sentence what this machine lacks, before anything is touched. */
export async function checkMachine(): Promise<void> {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error("a real Kubernetes needs Linux on x86-64");
  checkRoot();
  if (!existsSync("/usr/bin/apt-get")) throw new Error("Debian's apt-get is needed: runc and the images come from Debian packages");
  await run("go", ["version"]).catch(() => {
    throw new Error("Go is needed on the PATH (1.25 or newer): the Kubernetes programs and containerd are built from source");
  });
}

export function checkRoot(): void {
  if (process.getuid?.() !== 0) throw new Error("a real Kubernetes needs root: it makes namespaces, mounts and a network link");
}
