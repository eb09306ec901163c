import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { containerd } from "./configs.ts";
import { imageArchive } from "./image-archive.ts";
import { AGENT_PACKAGES, IMAGES, type Image, imagesHash, npmPrograms, SHELL_PACKAGES } from "./images.ts";
import { signal } from "./processes.ts";
import { run } from "./run.ts";
import { until } from "./wait.ts";

export const ROOT_FILE_SYSTEM = join(import.meta.dirname, "../images/root-file-system.sh");

export function imageStorePath(cache: string, programs: string, pause: string): string {
  return join(cache, `images-${imagesHash([Buffer.from(basename(programs)), readFileSync(ROOT_FILE_SYSTEM), readFileSync(pause)])}`);
}

/** containerd's own folder with our images in it and no container ever made: unpacked once, then only linked into clusters. */
export async function makeImageStore(cache: string, programs: string, pause: string): Promise<string> {
  const store = imageStorePath(cache, programs, pause);
  if (existsSync(store)) return store;
  for (const old of await readdir(cache)) if (old.startsWith("images-")) await rm(join(cache, old), { recursive: true });
  const work = await mkdtemp(join(cache, "images-new-"));
  try {
    await chmod(work, 0o755);
    await withContainerd(programs, work, async (load) => {
      await load(IMAGES.pause, [await pauseLayer(work, pause)]);
      await load(IMAGES.shell, [await rootFileSystem(work, "shell", SHELL_PACKAGES)]);
      await load(IMAGES.agent, [await rootFileSystem(work, "agent", AGENT_PACKAGES), await programsLayer(work)]);
    });
    await rename(join(work, "containerd/root"), store);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return store;
}

async function pauseLayer(work: string, pause: string): Promise<string> {
  const layer = join(work, "pause");
  await mkdir(layer);
  await copyFile(pause, join(layer, "pause"));
  return layer;
}

/** A folder with the files of Debian packages. */
export async function rootFileSystem(work: string, name: string, packages: readonly string[]): Promise<string> {
  await run("bash", [ROOT_FILE_SYSTEM, join(work, name), ...packages]);
  return join(work, name);
}

async function programsLayer(work: string): Promise<string> {
  const layer = join(work, "programs");
  const folder = join(layer, "usr/local/bin");
  await mkdir(folder, { recursive: true });
  for (const { name, path } of npmPrograms()) {
    await copyFile(path, join(folder, name));
    await chmod(join(folder, name), 0o755);
  }
  return layer;
}

type Load = (image: Image, layers: readonly string[]) => Promise<void>;

/** A containerd only for unpacking, in namespaces that end with it, and it ends with us. */
async function withContainerd(programs: string, work: string, use: (load: Load) => Promise<void>): Promise<void> {
  await writeFile(join(work, "containerd.toml"), containerd(work, work));
  const log = openSync(join(work, "containerd.log"), "a");
  const apart = ["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const program = join(work, "containerd-for-images"); // a name by which it is found
  await symlink(join(programs, "containerd"), program);
  const daemon = spawn("setpriv", [...apart, program, "-c", join(work, "containerd.toml")], { stdio: ["ignore", log, log] });
  closeSync(log);
  const ended = new Promise((resolve) => daemon.once("close", resolve).once("error", resolve));
  const ctr = (...args: string[]) => run(join(programs, "ctr"), ["-a", join(work, "containerd.sock"), "-n", "k8s.io", ...args]);
  try {
    await until("containerd", 30, () => ctr("version"));
    await use(async (image, layers) => {
      await ctr("images", "import", await imageArchive(image, layers, work));
    });
  } finally {
    signal(program, "SIGTERM");
    await ended;
  }
}

/** Blobs and unpacked layers never change, so links do; the databases do change. Another file system needs copies of all. */
export async function copyImageStore(store: string, place: string): Promise<void> {
  await mkdir(join(place, ".."), { recursive: true });
  await run("cp", ["-al", store, place]).catch(async () => {
    await rm(place, { recursive: true, force: true });
    await run("cp", ["-a", "--reflink=auto", store, place]);
  });
  for (const plugin of await readdir(place)) {
    for (const database of ["meta.db", "metadata.db"].map((name) => join(plugin, name)).filter((name) => existsSync(join(store, name)))) {
      await rm(join(place, database));
      await copyFile(join(store, database), join(place, database));
    }
  }
}
