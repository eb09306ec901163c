import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Blob, keepBlob } from "../image-archive.ts";
import { run } from "../run.ts";

interface Manifest {
  readonly mediaType: string;
  readonly config: Blob;
  readonly layers: readonly Blob[];
}

/** How containers of an image are started. */
export interface ImageSettings {
  readonly User: string;
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
}

interface ImageConfig {
  readonly config: ImageSettings;
  readonly rootfs: { readonly type: string; readonly diff_ids: readonly string[] };
}

/** One more layer on an image that the node has. */
export interface Layer {
  /** Null: the image has this layer only. */
  readonly on: string | null;
  /** The new image's name. */
  readonly image: string;
  readonly settings: (inherited: ImageSettings) => ImageSettings;
  /** Writes the layer's tar archive; the folder is for its intermediate files. */
  readonly write: (archive: string, folder: string) => Promise<unknown>;
}

const OCI = "application/vnd.oci.image";
const NO_MANIFEST: Manifest & { readonly schemaVersion: 2 } = {
  schemaVersion: 2,
  mediaType: `${OCI}.manifest.v1+json`,
  config: { mediaType: `${OCI}.config.v1+json`, digest: "", size: 0 },
  layers: [],
};
const NO_CONFIG: ImageConfig & Readonly<Record<"architecture" | "os", string>> = {
  architecture: "amd64",
  os: "linux",
  config: { User: "", Cmd: [], Env: [] },
  rootfs: { type: "layers", diff_ids: [] },
};

/** The images of a cluster's node. */
export class NodeImages {
  readonly #ctr: (...args: string[]) => Promise<string>;

  constructor({ dir }: { readonly dir: string }) {
    this.#ctr = (...args) => run(join(dir, "bin/ctr"), ["-a", join(dir, "containerd.sock"), "-n", "k8s.io", ...args]);
  }

  async has(image: string): Promise<boolean> {
    return (await this.#ctr("images", "ls", "-q", `name==${image}`)).trim() === image;
  }

  async digestOf(image: string): Promise<string> {
    const digest = /^\S+\s+\S+\s+(sha256:\w+)/m.exec(await this.#ctr("images", "ls", `name==${image}`))?.[1];
    if (digest === undefined) throw new Error(`the cluster has no image ${image}`);
    return digest;
  }

  /** A second name for an image. */
  async tag(image: string, name: string): Promise<void> {
    await this.#ctr("images", "tag", "--force", image, name);
  }

  async add(layer: Layer): Promise<void> {
    const work = await mkdtemp(join(tmpdir(), "paperclip-image-"));
    try {
      const archive = join(work, "layer.tar");
      await layer.write(archive, work);
      const content = async (digest: string) => JSON.parse(await this.#ctr("content", "get", digest)) as unknown;
      const base = layer.on === null ? NO_MANIFEST : ((await content(await this.digestOf(layer.on))) as Manifest);
      const config = layer.on === null ? NO_CONFIG : ((await content(base.config.digest)) as ImageConfig);
      await this.#ctr("images", "import", await imageArchive(layer, base, config, work));
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
}

/** An archive without the layers below: the node has those. */
async function imageArchive({ image, settings }: Layer, base: Manifest, below: ImageConfig, work: string): Promise<string> {
  const layout = join(work, "layout");
  await mkdir(join(layout, "blobs/sha256"), { recursive: true });
  const layer = await keepBlob(layout, join(work, "layer.tar"), `${OCI}.layer.v1.tar`);
  const keepJson = async (value: unknown, mediaType: string) => {
    const file = join(work, "blob.json");
    await writeFile(file, JSON.stringify(value));
    return keepBlob(layout, file, mediaType);
  };
  const { config, rootfs, ...rest } = below;
  const ownConfig = { ...rest, config: settings(config), rootfs: { ...rootfs, diff_ids: [...rootfs.diff_ids, layer.digest] } };
  const manifest = { ...base, config: await keepJson(ownConfig, base.config.mediaType), layers: [...base.layers, layer] };
  const annotations = { "io.containerd.image.name": image };
  const index = { schemaVersion: 2, manifests: [{ ...(await keepJson(manifest, base.mediaType)), annotations }] };
  await writeFile(join(layout, "index.json"), JSON.stringify(index));
  await writeFile(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const archive = join(work, "image.tar");
  await run("tar", ["-C", layout, "-cf", archive, "oci-layout", "index.json", "blobs"]);
  return archive;
}
