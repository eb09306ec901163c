// Writes the settings of the README from the schema; --check only says whether they are the same. A path names another README.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { withSettings } from "../packages/paperclip/src/config/readme.ts";

const args = process.argv.slice(2);
const path = args.find((arg) => !arg.startsWith("--")) ?? fileURLToPath(new URL("../README.md", import.meta.url));
const found = await readFile(path, "utf8");
const wanted = withSettings(found, "opencode_k8s");

if (!args.includes("--check")) await writeFile(path, wanted);
else if (found !== wanted) {
  console.error(`${path}: settings differ from the schema; run: node scripts/generate-docs.ts`);
  process.exitCode = 1;
}
