// Bundles the programs that run outside the server process (runner, volume, programs of adapters) and writes each as a module that exports its text.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { adapters } from "../packages/adapters.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const programs = [
  {
    entry: "packages/runner/src/main.ts",
    text: "packages/runner/generated/text.ts",
    name: "runnerText",
    target: "node18",
    shortNames: true,
  },
  {
    entry: "packages/runner/src/self-check/self-check.ts",
    text: "packages/runner/generated/self-check-text.ts",
    name: "selfCheckText",
    target: "node18",
  },
  {
    entry: "packages/runner/src/tools/node-check.ts",
    text: "packages/runner/generated/node-check-text.ts",
    name: "nodeCheckText",
    // It must be understood by the Node that it finds too old.
    target: "es6",
  },
  {
    entry: "packages/runner/src/tools/copy-tools.ts",
    text: "packages/runner/generated/copy-tools-text.ts",
    name: "copyToolsText",
    target: "node18",
  },
  {
    entry: "packages/engine/src/volume/child/main.ts",
    text: "packages/engine/generated/volume-text.ts",
    name: "volumeText",
    target: "node24",
  },
  {
    entry: "packages/engine/src/import/child/main.ts",
    text: "packages/engine/generated/import-text.ts",
    name: "importText",
    target: "node24",
  },
  {
    entry: "packages/engine/src/locks/child/main.ts",
    text: "packages/engine/generated/locks-text.ts",
    name: "locksText",
    target: "node24",
  },
  ...Object.values(adapters).flatMap(({ folder }) => programsOf(`packages/${folder}`)),
];

/** What an adapter has in the pod: `src/programs/<name>.main.ts`, a program, or `<name>.module.ts`, which a CLI imports, becomes `<name>Text`. */
function programsOf(folder: string) {
  const names = existsSync(`${root}${folder}/src/programs`) ? readdirSync(`${root}${folder}/src/programs`) : [];
  return names.flatMap((file) => {
    const [, name, kind] = /^(\w+)\.(main|module)\.ts$/.exec(file) ?? [];
    if (name === undefined) return [];
    const names = { text: `${folder}/generated/${name}-text.ts`, name: `${name}Text` };
    return [{ entry: `${folder}/src/programs/${file}`, ...names, target: "node18", isModule: kind === "module" }];
  });
}

/** What else an adapter has made for itself, by the `generate` of each file in its folder `generate/`. */
for (const { folder } of Object.values(adapters)) {
  const own = `${root}packages/${folder}/generate`;
  for (const file of existsSync(own) ? readdirSync(own) : [])
    await ((await import(`${own}/${file}`)) as { generate(): Promise<void> }).generate();
}

for (const program of programs) {
  const entry = root + program.entry;
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "isModule" in program && program.isModule ? "esm" : "cjs",
    target: program.target,
    minifySyntax: true,
    minifyWhitespace: true,
    // Read anew in every pod, and nothing of it names a function.
    minifyIdentifiers: "shortNames" in program,
    // As a require: a real import would load Node's loader of modules first, 20 ms for one built-in module.
    supported: { "dynamic-import": false },
    write: false,
    logLevel: "warning",
  });
  const bundled = result.outputFiles[0]?.text ?? "";
  // An old Node knows its modules by their plain names only.
  const text = program.target === "es6" ? bundled.replaceAll('require("node:', 'require("') : bundled;
  await mkdir(dirname(root + program.text), { recursive: true });
  await writeFile(root + program.text, `export const ${program.name}: string = ${JSON.stringify(text)};\n`);
}
