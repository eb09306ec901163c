// Bundles the programs that run outside the server process (runner, volume, programs of adapters) and writes each as a module that exports its text.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { adapters } from "../packages/adapters.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const programs = [
  { entry: "packages/runner/src/main.ts", text: "packages/runner/generated/text.ts", name: "runnerText", target: "node18" },
  {
    entry: "packages/runner/src/self-check/self-check.ts",
    text: "packages/runner/generated/self-check-text.ts",
    name: "selfCheckText",
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
  ...Object.values(adapters).flatMap(({ folder }) => programsOf(`packages/${folder}`)),
];

/** What an adapter runs in the pod: `src/programs/<name>.main.ts` becomes `<name>Text`. */
function programsOf(folder: string) {
  const names = existsSync(`${root}${folder}/src/programs`) ? readdirSync(`${root}${folder}/src/programs`) : [];
  return names.flatMap((file) => {
    const name = /^(\w+)\.main\.ts$/.exec(file)?.[1];
    if (name === undefined) return [];
    return [
      { entry: `${folder}/src/programs/${file}`, text: `${folder}/generated/${name}-text.ts`, name: `${name}Text`, target: "node18" },
    ];
  });
}

for (const program of programs) {
  const entry = root + program.entry;
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "cjs",
    target: program.target,
    minifySyntax: true,
    minifyWhitespace: true,
    write: false,
    logLevel: "warning",
  });
  const text = result.outputFiles[0]?.text ?? "";
  await mkdir(dirname(root + program.text), { recursive: true });
  await writeFile(root + program.text, `export const ${program.name}: string = ${JSON.stringify(text)};\n`);
}
