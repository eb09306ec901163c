import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../run.ts";

/** A program out of a published npm package, in another version than the one of this project. */
interface PinnedProgram {
  readonly program: string;
  readonly package: string;
  readonly version: string;
  /** Inside the package. */
  readonly file: string;
  readonly integrity: string;
}

type Group = "oldNode" | "otherClis";

export const PINNED = JSON.parse(readFileSync(join(import.meta.dirname, "../../images/npm-packages.json"), "utf8")) as Readonly<
  Record<Group, readonly PinnedProgram[]>
>;

/** Puts the program into the folder, if the package is the one that was pinned. */
export async function fetchProgram(pinned: PinnedProgram, folder: string, parent: string): Promise<void> {
  const work = await mkdtemp(join(parent, "npm-"));
  try {
    const packageName = `${pinned.package}@${pinned.version}`;
    const file = (await run("npm", ["pack", "--silent", "--pack-destination", work, packageName], { cwd: work })).trim();
    const found = `sha512-${createHash("sha512")
      .update(await readFile(join(work, file)))
      .digest("base64")}`;
    if (found !== pinned.integrity) throw new Error(`${packageName}: its content is ${found}, not the pinned ${pinned.integrity}`);
    await run("tar", ["-C", work, "-xf", join(work, file), `package/${pinned.file}`]);
    await mkdir(folder, { recursive: true });
    await chmod(join(work, "package", pinned.file), 0o755);
    await rename(join(work, "package", pinned.file), join(folder, pinned.program));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
