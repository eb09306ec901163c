import { resolve } from "node:path";
import { type FolderEntry, messageOf, mountPointOf, type Operations, type TreeFile, VolumeError, withVolume } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import type { FilePlaces } from "./file-places.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;
const TREE_LIMITS = { fileBytes: MAX_FILE_BYTES, files: 500, bytes: 8 * 1024 * 1024, depth: 8, without: [".git"] };

const NOT_A_PLACE =
  "instructions and skills come from the folders that the host keeps for the agent and its company; others need allow.files in the operator's policy";

type Reading = "readFile" | "listFolder" | "readTree";
type Operation<N extends Reading> = Parameters<Operations[N]>[0];

/**
 * Reads what a run takes along from the server's side: on the shared volume, where no link is trusted, or elsewhere, where the operator's
 * links are followed. Each mount is read by a process of its own, so that one that hangs blocks nothing else.
 */
export class ServerFiles {
  readonly #shared: string;
  readonly #places: FilePlaces;
  readonly #timeoutMs: number;
  /** Roots that have not answered once are not asked again. */
  readonly #stalled = new Set<string>();
  #left: number;

  /** `shared`: mount point of the volume that pods write on. `timeoutMs`: for everything that is read through this one together. */
  constructor(shared: string, places: FilePlaces, timeoutMs = TIMEOUT_MS) {
    this.#shared = resolve(shared);
    this.#places = places;
    this.#timeoutMs = timeoutMs;
    this.#left = timeoutMs;
  }

  /** Whether anything is read from this path at all. */
  allows(path: string): boolean {
    return this.#places(resolve(path)) !== null;
  }

  /** The text of a file. Rejects, as the others do, with an error whose message gives the reason in a few words. */
  async read(path: string): Promise<string> {
    const bytes = await this.#run("readFile", path, { maxBytes: MAX_FILE_BYTES });
    return bytes.toString("utf8").replace(/^\uFEFF/, "");
  }

  list(path: string): Promise<FolderEntry[]> {
    return this.#run("listFolder", path, {});
  }

  /** All files below a folder, or the file itself, with the path "". */
  readTree(path: string): Promise<TreeFile[]> {
    return this.#run("readTree", path, { limits: TREE_LIMITS });
  }

  async #run<N extends Reading>(
    name: N,
    path: string,
    more: Omit<Operation<N>, "path" | "links" | "within">,
  ): Promise<ReturnType<Operations[N]>> {
    if (this.#left <= 0) throw new Error(`no answer within ${this.#timeoutMs / 1000} s`);
    const asked = resolve(path);
    const within = this.#places(asked);
    if (within === null) throw new Error(NOT_A_PLACE);
    const isShared = isBelow(asked, this.#shared);
    const root = isShared ? this.#shared : mountPointOf(asked);
    if (this.#stalled.has(root)) throw new Error(`the volume at ${root} does not answer`);
    const of = { ...more, path: asked, links: isShared ? "none" : "all", within } as Operation<N>;
    const begun = performance.now();
    try {
      return await withVolume(root, (volume) => volume.run(name, of, this.#left));
    } catch (error) {
      if (error instanceof VolumeError && error.code === "volume_stalled") this.#stalled.add(root);
      throw new Error(reasonOf(error), { cause: error });
    } finally {
      this.#left -= performance.now() - begun;
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof VolumeError)) return messageOf(error);
  if (error.code === "volume_missing") return "no such file";
  if (error.errno === "EACCES" || error.errno === "EPERM") return "not readable for the server";
  if (error.errno === "ENXIO") return "not a file";
  return error.errno === "" || error.errno === "ELOOP" ? error.message : error.errno;
}
