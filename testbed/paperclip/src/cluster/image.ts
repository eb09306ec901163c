import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ImageSettings, type KubeCluster, type Layer, NodeImages } from "@paperclip-k8s/kube";
import { CLI, type PackedAdapters } from "../packages/install.ts";
import { run } from "../run.ts";
import { prepareRelease, type Version } from "../server/release.ts";
import { PROGRAMS } from "../stage.ts";

/** Not for running a server: maps, types, tests, and the agents' programs of the host's own adapters, which are half of its size. */
const LEFT_OUT = ["*.map", "*.d.ts", "*.test.js", "@openai/codex-linux-*", "@*/*-agent-sdk-linux-*"];
/** As in deploy/Dockerfile. */
const COMMAND = ["node", "/opt/paperclip/node_modules/@paperclipai/server/dist/index.js"];
const HOME = "/tmp";
const VOLUME = "/paperclip";
const TAR = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];

/**
 * The image of deploy/Dockerfile in the cluster's store: the agents' image, a layer with the release, and one with our packages, which is
 * another one after each change of ours. Stays until the cluster goes.
 */
export async function loadImage(cluster: KubeCluster, version: Version, packed: Packed, say: (line: string) => void): Promise<string> {
  const store = new NodeImages(cluster);
  const release = await prepareRelease(version, say);
  const programs = readdirSync(PROGRAMS).map((name) => readFileSync(join(PROGRAMS, name), "utf8"));
  const released = `localhost/paperclip-release:${version}-${hash([await store.digestOf(cluster.images.agent), LEFT_OUT, COMMAND, HOME, VOLUME, programs])}`;
  const image = `localhost/paperclip:${version}-${hash([released, packedText(packed)])}`;
  await add({ on: cluster.images.agent, image: released, settings: serverSettings, write: releaseLayer(release) });
  await add({ on: released, image, settings: (inherited) => inherited, write: packageLayer(packed) });
  return image;

  async function add(layer: Layer): Promise<void> {
    if (await store.has(layer.image)) return;
    say(`making the image ${layer.image}`);
    const begun = Date.now();
    await store.add(layer);
    say(`made it in ${Math.round((Date.now() - begun) / 1000)} s`);
  }
}

const hash = (parts: unknown): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);

/** What tells packages of ours from others: each of their files. */
function packedText({ folder, names }: Packed): string[] {
  const ours = [...names, CLI].flatMap((name) => [
    `${name}/package.json`,
    ...distOf(join(folder, name)).map((file) => `${name}/dist/${file}`),
  ]);
  return ours.map((file) => readFileSync(join(folder, file), "utf8"));
}

const distOf = (folder: string): string[] =>
  readdirSync(join(folder, "dist"))
    .filter((name) => /\.c?js$/.test(name))
    .sort();

type Packed = Pick<PackedAdapters, "folder" | "names">;
/** Where the image has our packages, as in deploy/Dockerfile. */
export const PACKAGES = `/opt/${CLI}/node_modules`;

const serverSettings = (inherited: ImageSettings): ImageSettings => ({
  ...inherited,
  Cmd: COMMAND,
  Env: [...inherited.Env.filter((entry) => !entry.startsWith("HOME=")), `HOME=${HOME}`, "NODE_ENV=production"],
});

/** The release below /opt/paperclip, the testbed's programs in /usr/local/bin, the mount point of the volume. */
const releaseLayer =
  (release: string): Layer["write"] =>
  async (archive, folder) => {
    await mkdir(join(folder, "empty", basename(VOLUME)), { recursive: true });
    await run("tar", [
      ...[...TAR, "-cf", archive],
      ...LEFT_OUT.map((pattern) => `--exclude=${pattern}`),
      ...["--transform=flags=rh;s,^node_modules,opt/paperclip/node_modules,", "--transform=flags=rh;s,^\\./,usr/local/bin/,"],
      ...["-C", release, "node_modules"],
      ...["-C", PROGRAMS, ...readdirSync(PROGRAMS).map((name) => `./${name}`)],
      ...["-C", join(folder, "empty"), basename(VOLUME)],
    ]);
  };

/** What npm made of the tarballs, and npm's own link to the command where the PATH finds it. */
const packageLayer =
  ({ folder: modules }: Packed): Layer["write"] =>
  async (archive, folder) => {
    await mkdir(join(folder, "bin"));
    await symlink(`${PACKAGES}/.bin/${CLI}`, join(folder, "bin", CLI));
    await run("tar", [
      ...[...TAR, "-cf", archive, "--exclude=*.map", "--exclude=*.d.ts"],
      ...[`--transform=flags=rh;s,^node_modules,${PACKAGES.slice(1)},`, "--transform=flags=rh;s,^bin/,usr/local/bin/,"],
      ...["-C", join(modules, ".."), "node_modules"],
      ...["-C", folder, `bin/${CLI}`],
    ]);
  };
