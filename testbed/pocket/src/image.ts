/** What an image stands for here: where its programs are, and the environment it sets. */
export interface ImageDefinition {
  /** Folders of this machine that make up PATH. */
  readonly path: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of this machine, by the path that they have in the image; "/" is what a volume of this image shows. */
  readonly folders?: Readonly<Record<string, string>>;
  /** What runs when the container names no command. */
  readonly entrypoint?: readonly string[];
}

export type ImageTable = Record<string, ImageDefinition>;

export interface ImageProblem {
  readonly reason: "InvalidImageName" | "ErrImageNeverPull" | "ErrImagePull";
  readonly message: string;
}

const reference = /^(?:[a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

export function imageProblem(
  images: ImageTable,
  image: string,
  policy: string | undefined,
  forced: string | undefined,
): ImageProblem | undefined {
  if (!reference.test(image)) return { reason: "InvalidImageName", message: invalidName(image) };
  if (forced === undefined && Object.hasOwn(images, image)) return undefined;
  if (policy === "Never") {
    return { reason: "ErrImageNeverPull", message: `Container image "${image}" is not present with pull policy of Never` };
  }
  return { reason: "ErrImagePull", message: forced ?? pullMessage(image) };
}

function invalidName(image: string): string {
  const start = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
  const name = image.replace(/:.*$/, "");
  return name === name.toLowerCase() ? start : `${start}: repository name (library/${name}) must be lowercase`;
}

function pullMessage(image: string): string {
  const [, registry = "docker.io", name, tag = "latest"] = /^(?:([^/]*[.:][^/]*|localhost)\/)?([^:@]+)(?::([\w.-]+))?/.exec(image) ?? [];
  return `failed to pull and unpack image "${image}": failed to resolve reference "${image}": failed to do request: Head "http://${registry}/v2/${name}/manifests/${tag}": dial tcp 127.0.0.1:80: connect: connection refused`;
}
