// Builds each published package: one ESM entry, the terminal formatter, the CommonJS ui-parser, and their declarations.
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { adapterPackages } from "../packages/adapters.ts";
import { bundleKubeconfig, clientBesideIt } from "./bundle-kubeconfig.ts";
import { contentKey } from "./content-key.ts";
import "./generate.ts";

/** The oldest Node that a server may have: packages/paperclip/src/node-version.ts. */
const TARGET = "node20";

type AdapterPackage = (typeof adapterPackages)[number];

const root = fileURLToPath(new URL("..", import.meta.url));

/** The adapters of one build share what they have in common in a server: packages/paperclip/src/server-parts.ts. */
const define = { PAPERCLIP_K8S_BUILD: JSON.stringify(contentKey(root)) };

for (const adapter of adapterPackages) {
  const folder = join(root, "packages", adapter.folder);
  await rm(join(folder, "dist"), { recursive: true, force: true });
  await bundle(adapter);
  // Parts of the host's library are in the bundle; its licence goes with them.
  await cp(join(root, "node_modules/@paperclipai/shared/LICENSE"), join(folder, "dist/LICENSE.paperclip.txt"));
  await declare(adapter);
}

await bundleCommand(join(root, "packages/cli"));

/** The operator's command line: one file that node runs. */
async function bundleCommand(folder: string): Promise<void> {
  await rm(join(folder, "dist"), { recursive: true, force: true });
  await build({
    bundle: true,
    legalComments: "none",
    logLevel: "warning",
    absWorkingDir: root,
    platform: "node",
    format: "esm",
    target: TARGET,
    entryPoints: [join(folder, "src/main.ts")],
    outfile: join(folder, "dist/main.js"),
    external: ["js-yaml"],
    // It starts no run, and has no use for what only runs need.
    plugins: [clientBesideIt, generatedBesideIt(new Set())],
  });
  await bundleKubeconfig(root, join(folder, "dist"), TARGET);
  await chmod(join(folder, "dist/main.js"), 0o755);
}

/** A generated module that an adapter imports when it needs it stays a file of its own, so that the host does not load it. */
function generatedBesideIt(names: Set<string>): Plugin {
  return {
    name: "generated-beside-it",
    setup: (bundle) =>
      bundle.onResolve({ filter: /\/generated\/[\w-]+\.ts$/ }, ({ path, kind }) => {
        if (kind !== "dynamic-import") return null;
        const name = basename(path, ".ts");
        names.add(name);
        return { path: `./${name}.js`, external: true };
      }),
  };
}

async function bundle({ source: from, folder: to, entry, inPlace }: AdapterPackage): Promise<void> {
  const source = join(root, "packages", from);
  const folder = join(root, "packages", to);
  const beside = new Set<string>();
  const common = { bundle: true, legalComments: "none", logLevel: "warning", absWorkingDir: root } as const;
  // The host's library takes one text of a package that would bring a megabyte of validators along.
  const alias = { "@paperclipai/shared": "@paperclipai/shared/connection-intent-guidance" };
  const server = { ...common, platform: "node", format: "esm", target: TARGET, alias, define } as const;
  await build({
    ...server,
    entryPoints: [join(source, `src/${entry}.ts`)],
    outfile: join(folder, "dist/index.js"),
    external: ["js-yaml"],
    plugins: [clientBesideIt, generatedBesideIt(beside)],
  });
  for (const name of beside) {
    const outfile = join(folder, `dist/${name}.js`);
    // A licence stays with what it is about.
    await build({ ...server, legalComments: "inline", entryPoints: [join(source, `generated/${name}.ts`)], outfile });
  }
  await bundleKubeconfig(root, join(folder, "dist"), TARGET);
  // The host has a formatter and a parser of its own for its own types.
  if (inPlace) return;
  await build({ ...server, entryPoints: [join(folder, "src/cli.ts")], outfile: join(folder, "dist/cli.js") });
  // The host evaluates this file in a browser worker without imports.
  await build({
    ...common,
    platform: "node",
    format: "cjs",
    target: "es2022",
    entryPoints: [join(folder, "src/ui-parser.ts")],
    outfile: join(folder, "dist/ui-parser.cjs"),
  });
}

/** Declarations of the entries; what they name of the workspace is copied beside them, so that they stand alone. */
async function declare({ source, folder, entry, inPlace }: AdapterPackage): Promise<void> {
  const out = await mkdtemp(join(tmpdir(), "declarations-"));
  try {
    const project = join(out, "tsconfig.json");
    const compilerOptions = {
      declaration: true,
      emitDeclarationOnly: true,
      noEmit: false,
      outDir: out,
      rootDir: root,
      typeRoots: [join(root, "node_modules/@types")],
    };
    const include = [join(root, `packages/${source}/src/*.ts`), join(root, "packages/paperclip/src/host/types.ts")];
    await writeFile(project, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include, exclude: ["**/*.test.ts"] }));
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project], { stdio: "inherit" });
    const dist = join(root, "packages", folder, "dist");
    await mkdir(dist, { recursive: true });
    await cp(join(out, "packages/paperclip/src/host/types.d.ts"), join(dist, "host.d.ts"));
    const others = [
      ["cli", "cli.d.ts"],
      ["ui-parser", "ui-parser.d.cts"],
    ] as const;
    for (const [name, file] of [[entry, "index.d.ts"] as const, ...(inPlace ? [] : others)]) {
      const text = await readFile(join(out, "packages", source, "src", `${name}.d.ts`), "utf8");
      await writeFile(join(dist, file), text.replaceAll("@paperclip-k8s/paperclip/host", "./host.js"));
    }
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
