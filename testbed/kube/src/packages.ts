import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
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

/** The folder with containerd's programs. Not installed but unpacked: the package would start a service and enable it. */
export async function containerdPrograms(cache: string): Promise<string> {
  const onPath = (process.env.PATH ?? "").split(delimiter).find((folder) => existsSync(join(folder, "containerd")));
  if (onPath !== undefined) return onPath;
  const place = join(cache, "containerd");
  const programs = join(place, "usr/bin");
  if (!existsSync(join(programs, "containerd"))) await unpackPackages(["containerd"], place);
  return programs;
}

/** The files of Debian packages, without running their scripts. */
export async function unpackPackages(names: readonly string[], place: string): Promise<void> {
  await mkdir(join(place, ".."), { recursive: true });
  const work = await mkdtemp(`${place}-`);
  try {
    const download = () => run("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=root", ...names], { cwd: work });
    await download().catch(async () => {
      await run("apt-get", ["update", "-qq"]);
      await download();
    });
    const archives = (await readdir(work)).filter((file) => file.endsWith(".deb"));
    for (const archive of archives) await run("dpkg-deb", ["-x", join(work, archive), join(work, "root")]);
    await rm(place, { recursive: true, force: true });
    await rename(join(work, "root"), place);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
