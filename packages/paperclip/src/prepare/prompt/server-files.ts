import { resolve } from "node:path";
import { type FolderEntry, messageOf, mountPointOf, type Operations, type TreeFile, VolumeError, withVolume } from "@paperclip-k8s/engine";
import { isBelow } from "../../host/context-values.ts";
import type { FilePlaces } from "./file-places.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;
const TREE_LIMITS = { fileBytes: MAX_FILE_BYTES, files: 500, bytes: 8 * 1024 * 1024, depth: 8, without: [".git"] };

const NOT_A_PLACE =
  "instructions and skills come from the folders that the host keeps for the agent, its company's skills and the run's projects; others need allow.files in the operator's policy";

type Reading = "readFile" | "listFolder" | "readTree";
type Operation<N extends Reading> = Parameters<Operations[N]>[0];
type Result<N extends Reading> = ReturnType<Operations[N]>;

/**
 * Reads what a run takes along from the server's side: on the shared volume, where no link is trusted, or elsewhere, where the operator's
 * links are followed. Each mount is read by a process of its own, so that one that hangs blocks nothing else.
 */
export class ServerFiles {
  readonly #shared: readonly string[];
  readonly #places: FilePlaces;
  readonly #timeoutMs: number;
  /** Roots that have not answered once are not asked again. */
  readonly #stalled = new Set<string>();
  #left: number;

  /** `shared`: the volume that pods write on, by each path it has here. `timeoutMs`: for everything that is read through this one together. */
  constructor(shared: readonly string[], places: FilePlaces, timeoutMs = TIMEOUT_MS) {
    // Of one that is within another, the outer one counts.
    this.#shared = shared.map((folder) => resolve(folder)).sort((a, b) => a.length - b.length);
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

  /** All files below a folder that may be read, or the file itself, with the path "". */
  async readTree(path: string): Promise<TreeFile[]> {
    const files = await this.#run("readTree", path, { limits: TREE_LIMITS });
    return files.filter((file) => this.allows(resolve(path, file.path)));
  }

  async #run<N extends Reading>(name: N, path: string, more: Omit<Operation<N>, keyof Operation<"listFolder">>): Promise<Result<N>> {
    if (this.#left <= 0) throw new Error(`no answer within ${this.#timeoutMs / 1000} s`);
    const asked = resolve(path);
    const within = this.#places(asked);
    if (within === null) throw new Error(NOT_A_PLACE);
    const mount = this.#shared.find((folder) => isBelow(asked, folder));
    const root = mount ?? mountPointOf(asked);
    if (this.#stalled.has(root)) throw new Error(`the volume at ${root} does not answer`);
    const of = { path: asked, links: mount === undefined ? "all" : "none", within, shared: this.#shared } as const;
    return withVolume(root, async (volume) => {
      const { path: at, names } = await this.#timed(root, (left) => volume.run("locate", of, left));
      // What the policy takes out of a folder is not read by way of a link either.
      if (!names.some((each) => this.allows(each))) throw new Error(`a link leads to ${at}, and ${NOT_A_PLACE}`);
      return this.#timed(root, (left) => volume.run(name, { ...of, ...more, at } as Operation<N>, left));
    });
  }

  async #timed<T>(root: string, work: (left: number) => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await work(this.#left);
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
