import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { KubeCluster } from "@paperclip-k8s/kube";
import { prepareRelease, type Version } from "../release.ts";
import { run } from "../run.ts";
import { PROGRAMS } from "../stage.ts";

/** Not for running a server: maps, types, tests, and the agents' programs of the host's own adapters, which are half of its size. */
const LEFT_OUT = ["*.map", "*.d.ts", "*.test.js", "@openai/codex-linux-*", "@anthropic-ai/claude-agent-sdk-linux-*"];
/** As in deploy/Dockerfile. */
const COMMAND = ["node", "/opt/paperclip/node_modules/@paperclipai/server/dist/index.js"];
const HOME = "/paperclip";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Manifest {
  readonly mediaType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface ImageConfig {
  readonly config: { readonly User: string; readonly Cmd: readonly string[]; readonly Env: readonly string[] };
  readonly rootfs: { readonly type: string; readonly diff_ids: readonly string[] };
}

/** The image of deploy/Dockerfile in the cluster's store: the agents' image and one layer with the release. Stays until the cluster goes. */
export async function loadImage(cluster: KubeCluster, version: Version, say: (line: string) => void): Promise<string> {
  const release = await prepareRelease(version, say);
  const ctr = (...args: string[]) =>
    run(join(cluster.dir, "bin/ctr"), ["-a", join(cluster.dir, "containerd.sock"), "-n", "k8s.io", ...args]);
  const base = /^\S+\s+\S+\s+(sha256:\w+)/m.exec(await ctr("images", "ls", `name==${cluster.images.agent}`))?.[1];
  if (base === undefined) throw new Error(`the cluster has no image ${cluster.images.agent}`);
  const image = `localhost/paperclip:${version}-${hashOf(base)}`;
  if ((await ctr("images", "ls", "-q", `name==${image}`)).trim() === image) return image;
  say(`making the image ${image} (about a minute, once per cluster)`);
  const begun = Date.now();
  const work = await mkdtemp(join(tmpdir(), "paperclip-image-"));
  try {
    const content = async (digest: string) => JSON.parse(await ctr("content", "get", digest)) as unknown;
    const archive = await archiveOn((await content(base)) as Manifest, { image, release, work, content });
    await ctr("images", "import", archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  say(`made the image in ${Math.round((Date.now() - begun) / 1000)} s`);
  return image;
}

/** Of everything that makes the image what it is, besides the version in its name. */
function hashOf(base: string): string {
  const programs = readdirSync(PROGRAMS).map((name) => readFileSync(join(PROGRAMS, name), "utf8"));
  return createHash("sha256")
    .update(JSON.stringify([base, LEFT_OUT, COMMAND, HOME, programs]))
    .digest("hex")
    .slice(0, 12);
}

interface Making {
  readonly image: string;
  readonly release: string;
  readonly work: string;
  content(digest: string): Promise<unknown>;
}

/** An archive without the layers below: those are in the store. */
async function archiveOn(base: Manifest, { image, release, work, content }: Making): Promise<string> {
  const layout = join(work, "layout");
  await mkdir(join(layout, "blobs/sha256"), { recursive: true });
  const layer = await keep(layout, await layerArchive(release, work), base.layers[0]!.mediaType);
  const keepJson = async (value: unknown, mediaType: string) => {
    const file = join(work, "blob.json");
    await writeFile(file, JSON.stringify(value));
    return keep(layout, file, mediaType);
  };
  const { config, rootfs, ...rest } = (await content(base.config.digest)) as ImageConfig;
  const env = [...config.Env.filter((entry) => !entry.startsWith("HOME=")), `HOME=${HOME}`, "NODE_ENV=production"];
  const ownConfig = {
    ...rest,
    config: { ...config, Cmd: COMMAND, Env: env },
    rootfs: { ...rootfs, diff_ids: [...rootfs.diff_ids, layer.digest] },
  };
  const manifest = { ...base, config: await keepJson(ownConfig, base.config.mediaType), layers: [...base.layers, layer] };
  const annotations = { "io.containerd.image.name": image };
  const index = { schemaVersion: 2, manifests: [{ ...(await keepJson(manifest, base.mediaType)), annotations }] };
  await writeFile(join(layout, "index.json"), JSON.stringify(index));
  await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const archive = join(work, "image.tar");
  await run("tar", ["-C", layout, "-cf", archive, "oci-layout", "index.json", "blobs"]);
  return archive;
}

/** The release below /opt/paperclip, the testbed's programs in /usr/local/bin, the mount point of the volume. */
async function layerArchive(release: string, work: string): Promise<string> {
  const archive = join(work, "layer.tar");
  await mkdir(join(work, "empty", basename(HOME)), { recursive: true });
  await run("tar", [
    ...["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "-cf", archive],
    ...LEFT_OUT.map((pattern) => `--exclude=${pattern}`),
    ...["--transform=flags=rh;s,^node_modules,opt/paperclip/node_modules,", "--transform=flags=rh;s,^\\./,usr/local/bin/,"],
    ...["-C", release, "node_modules"],
    ...["-C", PROGRAMS, ...readdirSync(PROGRAMS).map((name) => `./${name}`)],
    ...["-C", join(work, "empty"), basename(HOME)],
  ]);
  return archive;
}

async function keep(layout: string, file: string, mediaType: string): Promise<Descriptor> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const hex = hash.digest("hex");
  const { size } = await stat(file);
  await rename(file, join(layout, "blobs/sha256", hex));
  return { mediaType, digest: `sha256:${hex}`, size };
}
