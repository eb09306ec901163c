import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const bundles = new Map<string, string>();

/** A program of the bench as one file, built as the packages are: Node's own translation of TypeScript would be half of a server's memory. */
export function bundled(program: URL): string {
  const known = bundles.get(program.href);
  if (known !== undefined) return known;
  // Below node_modules, so that what is left out of the bundle is found.
  const outfile = join(root, "node_modules/.cache/bench", `${basename(program.pathname, ".ts")}.mjs`);
  buildSync({
    entryPoints: [fileURLToPath(program)],
    outfile,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["js-yaml", "@kubernetes/client-node"],
    alias: { "@paperclipai/shared": "@paperclipai/shared/connection-intent-guidance" },
    logLevel: "warning",
  });
  bundles.set(program.href, outfile);
  return outfile;
}
