import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ImageSettings, type KubeCluster, type Layer, NodeImages } from "@paperclip-k8s/kube";
import { cliNames } from "../../../../packages/adapters.ts";
import { CLI, type PackedAdapters } from "../packages/install.ts";
import { run } from "../run.ts";
import { prepareRelease, type Version } from "../server/release.ts";
import { PROGRAMS } from "../stage.ts";

/** Not for running a server: maps, types and tests. */
const LEFT_OUT = ["*.map", "*.d.ts", "*.test.js"];
/** As in deploy/server/Dockerfile: the agents' programs that the release brings along. */
const PROGRAMS_LEFT_OUT = ["@openai/codex-linux-*", "@*/*-agent-sdk-linux-*", ".bin/*-acp"];
/** As in deploy/server/Dockerfile. */
const COMMAND = ["node", "/opt/paperclip/node_modules/@paperclipai/server/dist/index.js"];
const HOME = "/tmp";
const VOLUME = "/paperclip";
const TAR = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];

/** The images of deploy/ in the cluster's store, by name. */
export interface Images {
  /** That of deploy/server: without any agent's CLI; or with them, as a server has that ran its agents itself so far. */
  readonly server: string;
  /** That of deploy/agents. */
  readonly agents: string;
}

/**
 * Makes both images from the cluster's own image for agents: the agents' has the test bed's programs besides; the server's has a layer with
 * the release and without the CLIs, and one with our packages, which is another one after each change of ours. They stay until the cluster goes.
 */
export async function loadImages(
  cluster: KubeCluster,
  version: Version,
  packed: PackedAdapters,
  say: (line: string) => void,
  hasClis = false,
): Promise<Images> {
  const store = new NodeImages(cluster);
  const release = await prepareRelease(version, say);
  const base = await store.digestOf(cluster.images.agent);
  const programs = readdirSync(PROGRAMS).map((name) => readFileSync(join(PROGRAMS, name), "utf8"));
  const agents = `localhost/agent-clis:${hash([base, programs])}`;
  const [below, leftOut, removed] = hasClis
    ? [agents, LEFT_OUT, []]
    : [cluster.images.agent, [...LEFT_OUT, ...PROGRAMS_LEFT_OUT], cliNames];
  const released = `localhost/paperclip-release:${version}-${hash([base, below, leftOut, removed, COMMAND, HOME, VOLUME])}`;
  const server = `localhost/paperclip:${version}-${hash([released, packedText(packed)])}`;
  const same = (inherited: ImageSettings): ImageSettings => inherited;
  await add({ on: cluster.images.agent, image: agents, settings: same, write: programsLayer });
  await add({ on: below, image: released, settings: serverSettings, write: releaseLayer(release, leftOut, removed) });
  await add({ on: released, image: server, settings: same, write: packageLayer(packed) });
  return { server, agents };

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
function packedText({ folder, names, inPlace }: PackedAdapters): string[] {
  const ours = [...names, ...inPlace, CLI].flatMap((name) => [
    `${name}/package.json`,
    ...distOf(join(folder, name)).map((file) => `${name}/dist/${file}`),
  ]);
  return ours.map((file) => readFileSync(join(folder, file), "utf8"));
}

const distOf = (folder: string): string[] =>
  readdirSync(join(folder, "dist"))
    .filter((name) => /\.c?js$/.test(name))
    .sort();

/** Where the server's image has our packages, as in deploy/server/Dockerfile. */
export const PACKAGES = `/opt/${CLI}/node_modules`;

const serverSettings = (inherited: ImageSettings): ImageSettings => ({
  ...inherited,
  Cmd: COMMAND,
  Env: [...inherited.Env.filter((entry) => !entry.startsWith("HOME=")), `HOME=${HOME}`, "NODE_ENV=production"],
});

/** The test bed's programs in /usr/local/bin. */
const programsLayer: Layer["write"] = (archive) =>
  run("tar", [
    ...[...TAR, "-cf", archive, "--transform=flags=rh;s,^\\./,usr/local/bin/,"],
    ...["-C", PROGRAMS, ...readdirSync(PROGRAMS).map((name) => `./${name}`)],
  ]);

/** The release below /opt/paperclip, the mount point of the volume, and the marks by which a layer removes files of those below it: the CLIs. */
const releaseLayer =
  (release: string, leftOut: readonly string[], clis: readonly string[]): Layer["write"] =>
  async (archive, folder) => {
    const made = join(folder, "made");
    for (const place of [basename(VOLUME), "usr/local/bin"]) await mkdir(join(made, place), { recursive: true });
    const removed = clis.map((name) => `usr/local/bin/.wh.${name}`);
    for (const mark of removed) await writeFile(join(made, mark), "");
    await run("tar", [
      ...[...TAR, "-cf", archive],
      ...leftOut.map((pattern) => `--exclude=${pattern}`),
      "--transform=flags=rh;s,^node_modules,opt/paperclip/node_modules,",
      ...["-C", release, "node_modules"],
      ...["-C", made, basename(VOLUME), ...removed],
    ]);
  };

/** What npm made of the tarballs, and npm's own link to the command where the PATH finds it. */
const packageLayer =
  ({ folder: modules }: PackedAdapters): Layer["write"] =>
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
