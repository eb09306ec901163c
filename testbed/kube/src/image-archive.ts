import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Image } from "./images.ts";
import { run } from "./run.ts";

const OCI = "application/vnd.oci.image";

/** What an image says of one of its parts. */
export interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An image archive in `work` whose layers are these folders, one each, without compression. */
export async function imageArchive(image: Image, layers: readonly string[], work: string): Promise<string> {
  const layout = join(work, "layout");
  await rm(layout, { recursive: true, force: true });
  await mkdir(join(layout, "blobs/sha256"), { recursive: true });
  const layerBlobs: Blob[] = [];
  for (const layer of layers) {
    const archive = join(work, "layer.tar");
    await run("tar", ["-C", layer, "--sort=name", "--mtime=@0", "--numeric-owner", "-cf", archive, "."]);
    layerBlobs.push(await keepBlob(layout, archive, `${OCI}.layer.v1.tar`));
  }
  const keepJson = async (content: unknown, mediaType: string) => {
    const file = join(work, "blob.json");
    await writeFile(file, JSON.stringify(content));
    return keepBlob(layout, file, mediaType);
  };
  const config = await keepJson(imageConfig(image, layerBlobs), `${OCI}.config.v1+json`);
  const mediaType = `${OCI}.manifest.v1+json`;
  const manifest = await keepJson({ schemaVersion: 2, mediaType, config, layers: layerBlobs }, mediaType);
  const annotations = { "io.containerd.image.name": image.name };
  await writeFile(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }));
  await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const archive = join(work, "image.tar");
  await run("tar", ["-C", layout, "-cf", archive, "oci-layout", "index.json", "blobs"]);
  await rm(layout, { recursive: true });
  return archive;
}

function imageConfig(image: Image, layers: readonly Blob[]) {
  return {
    architecture: "amd64",
    os: "linux",
    config: { User: image.user, Cmd: image.command, Env: image.env },
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
  };
}

/** Moves a file into the layout, under the name its content gives it. */
export async function keepBlob(layout: string, file: string, mediaType: string): Promise<Blob> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const hex = hash.digest("hex");
  const { size } = await stat(file);
  await rename(file, join(layout, "blobs/sha256", hex));
  return { mediaType, digest: `sha256:${hex}`, size };
}
