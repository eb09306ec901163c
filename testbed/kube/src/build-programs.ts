import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { filesHash } from "./content-hash.ts";
import { run } from "./run.ts";

const SOURCE = join(import.meta.dirname, "../node");

export const kubernetesVersion = (): string => /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(SOURCE, "go.mod"), "utf8"))![1]!;

/** Where the binary for today's sources is, whether or not it has been built. */
export function binaryPath(cache: string): string {
  const sources = ["main.go", "go.mod", "go.sum"].map((file) => join(SOURCE, file));
  return join(cache, `kubenode-${kubernetesVersion()}-${filesHash(sources)}`);
}

/** All Kubernetes programs and etcd in one binary: they share most of their code, so that it is built and kept once. */
export async function buildPrograms(cache: string): Promise<string> {
  const binary = binaryPath(cache);
  if (existsSync(binary)) return binary;
  await mkdir(cache, { recursive: true });
  for (const old of await readdir(cache)) if (old.startsWith("kubenode-")) await rm(join(cache, old));
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(kubernetesVersion())!;
  const stamp = Object.entries({ gitVersion: kubernetesVersion(), gitMajor: major, gitMinor: minor });
  const flags = stamp.map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`).join(" ");
  await run("go", ["build", "-trimpath", "-buildvcs=false", "-ldflags", `-s -w ${flags}`, "-o", `${binary}.new`, "."], { cwd: SOURCE });
  await rename(`${binary}.new`, binary);
  return binary;
}

/** The smallest process that stays and reaps: first process of the node, and of every pod. */
export async function buildPause(cache: string): Promise<string> {
  const source = join(import.meta.dirname, "../images/pause.c");
  const binary = join(cache, `pause-${filesHash([source])}`);
  if (existsSync(binary)) return binary;
  await mkdir(cache, { recursive: true });
  await run("gcc", ["-Os", "-static", "-o", `${binary}.new`, source]);
  await rename(`${binary}.new`, binary);
  return binary;
}
