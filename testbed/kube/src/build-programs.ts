import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { filesHash } from "./content-hash.ts";
import { run } from "./run.ts";

const SOURCE = join(import.meta.dirname, "../node");
const CONTAINERD = join(import.meta.dirname, "../containerd");

const versionIn = (folder: string, module: RegExp): string => module.exec(readFileSync(join(folder, "go.mod"), "utf8"))![1]!;
export const kubernetesVersion = (): string => versionIn(SOURCE, /k8s\.io\/kubernetes (v\S+)/);
const containerdVersion = (): string => versionIn(CONTAINERD, /containerd\/v2 (v\S+)/);

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

/** Where containerd's programs for today's sources are, whether or not they have been built. */
export function containerdPath(cache: string): string {
  const sources = ["go.mod", "go.sum"].map((file) => join(CONTAINERD, file));
  return join(cache, `containerd-${containerdVersion()}-${filesHash(sources)}`);
}

/** The folder with containerd, its shim and ctr. Debian's is older than the volumes that are images. */
export async function buildContainerd(cache: string): Promise<string> {
  const place = containerdPath(cache);
  if (existsSync(place)) return place;
  await mkdir(cache, { recursive: true });
  for (const old of await readdir(cache)) if (/^containerd(-|$)/.test(old)) await rm(join(cache, old), { recursive: true });
  const flags = `-s -w -X github.com/containerd/containerd/v2/version.Version=${containerdVersion()}`;
  const tags = "no_aufs,no_btrfs,no_devmapper,no_zfs";
  const args = ["build", "-trimpath", "-buildvcs=false", "-tags", tags, "-ldflags", flags, "-o", `${place}.new/`, "tool"];
  await run("go", args, { cwd: CONTAINERD, env: { ...process.env, CGO_ENABLED: "0" } });
  await rename(`${place}.new`, place);
  return place;
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
