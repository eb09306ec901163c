import { existsSync } from "node:fs";
import { run } from "./run.ts";

/** A program that stands for a Debian package. */
const NEEDED: Readonly<Record<string, string>> = {
  runc: "/usr/sbin/runc",
  "containernetworking-plugins": "/usr/lib/cni/bridge",
  nftables: "/usr/sbin/nft",
  iproute2: "/sbin/ip",
  openssl: "/usr/bin/openssl",
  gcc: "/usr/bin/gcc",
  "libc6-dev": "/usr/include/stdio.h",
  bindfs: "/usr/bin/bindfs",
};

export function missingPackages(exists: (path: string) => boolean = existsSync): string[] {
  return Object.keys(NEEDED).filter((name) => !exists(NEEDED[name]!));
}

export async function installPackages(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = () => run("apt-get", ["install", "-qq", "-y", "--no-install-recommends", ...names], { env });
  await install().catch(async () => {
    await run("apt-get", ["update", "-qq"]);
    await install();
  });
}
