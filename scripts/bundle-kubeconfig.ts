// The part of the official client that the engine uses, as one file beside each bundle. Whole, the client needs a newer Node than a server may
// have, because of an HTTP client that is not used here, and its thousands of generated files take a second to load.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";

const CLIENT = "node_modules/@kubernetes/client-node";

/** In the bundles, the client is the file beside them. */
export const clientBesideIt: Plugin = {
  name: "client-beside-it",
  setup: (bundle) => bundle.onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({ path: "./kubeconfig.js", external: true })),
};

/** Only requests by the client itself would need these. */
const UNUSED: Readonly<Record<string, string>> = {
  undici: "export class Agent {} export class ProxyAgent {}",
  "./gen/index.js": "export class ServerConfiguration {} export function createConfiguration() { throw new Error('not in this bundle'); }",
};

const withoutRequests: Plugin = {
  name: "without-requests",
  setup(bundle) {
    bundle.onResolve({ filter: /^(undici|\.\/gen\/index\.js)$/ }, ({ path }) => ({ path, namespace: "unused" }));
    bundle.onLoad({ filter: /.*/, namespace: "unused" }, ({ path }) => ({ contents: UNUSED[path] ?? "" }));
  },
};

/** Writes kubeconfig.js and the licences of what is in it. */
export async function bundleKubeconfig(root: string, out: string, target: string): Promise<void> {
  const { metafile } = await build({
    entryPoints: [join(root, CLIENT, "dist/config.js")],
    outfile: join(out, "kubeconfig.js"),
    bundle: true,
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
    absWorkingDir: root,
    platform: "node",
    format: "esm",
    target,
    external: ["js-yaml"],
    plugins: [withoutRequests],
    // Some packages in it are CommonJS and require Node's own modules.
    banner: { js: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);' },
  });
  const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const licences = await Promise.all([...packages].sort().map((folder) => licenceOf(root, folder)));
  await writeFile(join(out, "LICENSES.kubeconfig.txt"), licences.join("\n"));
}

async function licenceOf(root: string, folder: string): Promise<string> {
  const file = (await readdir(join(root, folder))).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence file`);
  const { name, version } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8")) as { name: string; version: string };
  return `===== ${name} ${version}\n\n${await readFile(join(root, folder, file), "utf8")}`;
}
