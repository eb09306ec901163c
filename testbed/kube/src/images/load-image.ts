import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { contentHash } from "../content-hash.ts";
import { AGENT_IMAGE } from "../images.ts";
import { run } from "../run.ts";
import { settingsFrom } from "../settings.ts";
import { NodeImages } from "./node-images.ts";
import { TEST_IMAGES, type TestImage, type TestImageName } from "./test-images.ts";

/** The image's name, once the cluster's node has it: its layer is made once and kept in the cache, the image as long as the cluster. */
export async function loadTestImage(cluster: { readonly dir: string }, name: TestImageName): Promise<string> {
  return loadImage(cluster, name, TEST_IMAGES[name]);
}

export async function loadImage(cluster: { readonly dir: string }, name: string, image: TestImage): Promise<string> {
  const below = image.on === null || image.on === AGENT_IMAGE ? image.on : await loadTestImage(cluster, image.on);
  const node = new NodeImages(cluster);
  const digest = below === null ? "" : await node.digestOf(below);
  const tag = contentHash([digest, image.madeFrom(), JSON.stringify(image.settings({ User: "", Cmd: [], Env: [] }))]);
  const full = `localhost/${name}:${tag}`;
  if (await node.has(full)) return full;
  const layer = await cachedLayer(name, image);
  await node.add({ on: below, image: full, settings: image.settings, write: (archive) => copyFile(layer, archive) });
  return full;
}

async function cachedLayer(name: string, image: TestImage): Promise<string> {
  const { cache } = settingsFrom(process.env);
  const archive = join(cache, `layer-${name}-${image.madeFrom()}.tar`);
  if (existsSync(archive)) return archive;
  await mkdir(cache, { recursive: true });
  for (const old of await readdir(cache)) if (old.startsWith(`layer-${name}-`) && old.endsWith(".tar")) await rm(join(cache, old));
  const work = await mkdtemp(join(cache, `layer-${name}-`));
  try {
    await chmod(work, 0o755);
    const folder = await image.layer(work);
    const made = join(work, "layer.tar");
    await run("tar", ["-C", folder, "--sort=name", "--mtime=@0", "--numeric-owner", "-cf", made, "."]);
    await rename(made, archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return archive;
}
