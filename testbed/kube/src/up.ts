import { existsSync, lstatSync } from "node:fs";
import { chown, copyFile, link, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Admin, openAdmin } from "./admin.ts";
import { binaryPath, buildContainerd, buildPause, buildPrograms, containerdPath } from "./build-programs.ts";
import { makeCertificates } from "./certificates.ts";
import { checkMachine } from "./check-machine.ts";
import { configs, writeConfigs } from "./configs.ts";
import { contentHash } from "./content-hash.ts";
import { type Description, readDescription, writeDescription } from "./description.ts";
import { down } from "./down.ts";
import { runFirstPod } from "./first-pod.ts";
import { copyImageStore, imageStorePath, makeImageStore } from "./image-store.ts";
import { AGENT_IMAGE, PAUSE_IMAGE, SHELL_IMAGE } from "./images.ts";
import { checkNetworkFree, connect } from "./network.ts";
import { makeNode } from "./node-namespaces.ts";
import { installPackages, missingPackages } from "./packages.ts";
import { processesOf } from "./processes.ts";
import { commandLines } from "./programs.ts";
import { API_PORT, type Settings } from "./settings.ts";
import { apiServerReady, isNodeReady, nodeReady, startProgram } from "./start-programs.ts";

export type Step = <T>(what: string, act: () => Promise<T>) => Promise<T>;

interface Parts {
  readonly binary: string;
  readonly containerd: string;
  readonly pause: string;
  readonly imageStore: string;
}

export async function up(settings: Settings, step: Step): Promise<Description> {
  await checkMachine();
  const parts = await prepare(settings, step);
  const description = describe(settings, parts);
  if (await isUp(description)) return description;
  await step("removing what an earlier cluster left", () => down(settings));
  await checkNetworkFree(settings);
  try {
    await step("certificates, configuration and images in place", () => furnish(settings, parts));
    await start(settings, description, step);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n  Its logs are in ${settings.dir}/log; npm run kube:down removes it.`, { cause: error });
  }
  await writeDescription(description);
  return description;
}

/** What is made once and kept. */
async function prepare({ cache }: Settings, step: Step): Promise<Parts> {
  const missing = missingPackages();
  if (missing.length > 0) await step(`installing ${missing.join(", ")}`, () => installPackages(missing));
  const hasContainerd = existsSync(containerdPath(cache));
  const containerd = await step(hasContainerd ? "containerd" : "building containerd (1 to 2 minutes)", () => buildContainerd(cache));
  const built = existsSync(binaryPath(cache));
  const binary = await step(built ? "Kubernetes programs" : "building the Kubernetes programs (5 to 10 minutes from nothing)", () =>
    buildPrograms(cache),
  );
  const pause = await buildPause(cache);
  const made = existsSync(imageStorePath(cache, containerd, pause));
  const imageStore = await step(made ? "images" : "making the images (half a minute)", () => makeImageStore(cache, containerd, pause));
  return { binary, containerd, pause, imageStore };
}

function describe(settings: Settings, parts: Parts): Description {
  const { dir, nodeName, nodeAddress, hostAddress } = settings;
  const programs = commandLines(settings);
  return {
    dir,
    kubeconfig: join(dir, "pki/admin.kubeconfig"),
    kubectl: join(dir, "bin/kubectl"),
    server: `https://${nodeAddress}:${API_PORT}`,
    caFile: join(dir, "pki/ca.crt"),
    nodeName,
    nodeAddress,
    hostAddress,
    auditLog: join(dir, "audit.log"),
    volumes: join(dir, "volumes"),
    images: { agent: AGENT_IMAGE, shell: SHELL_IMAGE, pause: PAUSE_IMAGE },
    madeFrom: contentHash([JSON.stringify([parts, programs, configs(settings)])]),
    programs,
  };
}

/** Up means: made from the same parts, every program there, the API server and the node ready. */
async function isUp(wanted: Description): Promise<boolean> {
  const found = readDescription(wanted.dir);
  if (found?.madeFrom !== wanted.madeFrom) return false;
  if (Object.values(found.programs).some(([program]) => processesOf(program).length === 0)) return false;
  const admin = openAdmin(found.server, found.dir);
  return await isNodeReady(admin, found.nodeName)
    .catch(() => false)
    .finally(() => admin.close());
}

async function furnish(settings: Settings, parts: Parts): Promise<void> {
  const { dir } = settings;
  await mkdir(dir, { mode: 0o755 });
  if (lstatSync(dir).uid !== 0) throw new Error(`${dir} belongs to someone else`);
  for (const folder of ["bin", "log", "volumes", "volume-plugins", "pod-logs"]) await mkdir(join(dir, folder));
  await chown(join(dir, "volumes"), 1000, 1000); // pods run as 1000
  await copyFile(parts.pause, join(dir, "bin/keeper"));
  for (const name of await readdir(parts.containerd)) {
    if (/^(containerd.*|ctr)$/.test(name)) await symlink(join(parts.containerd, name), join(dir, "bin", name));
  }
  const names = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubectl"];
  await linkOrCopy(parts.binary, join(dir, "bin/kubenode")); // its own, so that a newer build does not take it away
  for (const name of names) await symlink("kubenode", join(dir, "bin", name));
  await Promise.all([makeCertificates(settings), writeConfigs(settings), copyImageStore(parts.imageStore, join(dir, "containerd/root"))]);
}

/** A link needs the same file system. */
const linkOrCopy = (from: string, to: string): Promise<void> => link(from, to).catch(() => copyFile(from, to));

async function start(settings: Settings, { programs, server }: Description, step: Step): Promise<void> {
  const { dir, nodeName } = settings;
  const starting = (...names: (keyof typeof programs)[]) => Promise.all(names.map((name) => startProgram(dir, programs, name)));
  await step("namespaces and network", () => makeNode(settings).then(() => connect(settings)));
  const admin: Admin = openAdmin(server, dir);
  try {
    await step("API server", async () => {
      await starting("etcd", "containerd", "kube-apiserver");
      await apiServerReady(admin);
    });
    await step(`node ${nodeName} Ready`, async () => {
      await starting("kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet");
      await nodeReady(admin, nodeName);
    });
    await step("a first pod ran to its end", () => runFirstPod(admin));
  } finally {
    admin.close();
  }
}
