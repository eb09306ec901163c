// Runs in an init container of the tools image, started by its own Node: `node copy.cjs <to> <program>…` copies these programs of the
// folder that this file is in, and all that they need, into the pod's own folder. One with a `?` at its end may be missing.
import { constants, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const [, self = "", to = "", ...wanted] = process.argv;

async function copyTools(): Promise<void> {
  const from = dirname(self);
  const offered = readdirSync(join(from, "bin"));
  const missing = wanted.filter((name) => !name.endsWith("?") && !offered.includes(name));
  if (missing.length > 0) throw new Error(`the tools image has no ${missing.join(", ")}; it has ${offered.join(", ")}`);
  const programs = wanted.map((name) => name.replace(/\?$/, "")).filter((name) => offered.includes(name));
  const files = [...programs.map((name) => `bin/${name}`), ...readdirSync(join(from, "lib")).map((name) => `lib/${name}`)];
  for (const folder of ["bin", "lib"]) mkdirSync(join(to, folder), { recursive: true });
  copyFileSync(join(from, "ld.so"), join(to, "ld.so"));
  // Where the file system can share the blocks, nothing is copied.
  await Promise.all(files.map((file) => copyFile(join(from, file), join(to, file), constants.COPYFILE_FICLONE)));
}

copyTools().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
