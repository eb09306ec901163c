// Packs each published package and checks the tarball as npm (publint, attw) and the host see it. How long its import takes is bench's: `--only import`.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { adapterPackages } from "../packages/adapters.ts";
import { olderNode, runOn } from "./oldest-node.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name: string) => join(root, "node_modules/.bin", name);

/** What every tarball has. */
const COMMON = ["LICENSE", "README.md", "package.json"];
/** What each kind has besides, and nothing else: a file that slips in may be a secret, one that slips out breaks the host. */
const CONTENTS = {
  adapter: [
    ...["dist/LICENSE.paperclip.txt", "dist/host.d.ts", "dist/index.d.ts", "dist/index.js"],
    ...["dist/LICENSES.kubeconfig.txt", "dist/kubeconfig.js"],
  ],
  pages: ["dist/cli.d.ts", "dist/cli.js", "dist/ui-parser.cjs", "dist/ui-parser.d.cts"],
  command: ["dist/LICENSES.kubeconfig.txt", "dist/kubeconfig.js", "dist/main.js"],
} as const;

const older = await olderNode();

for (const [name, check] of [
  ...adapterPackages.map((adapter) => [adapter.folder, checkAdapter(adapter)] as const),
  ["cli", checkCommand],
] as const) {
  const folder = await mkdtemp(join(tmpdir(), "packed-"));
  try {
    await check(join(root, "packages", name), folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkAdapter({ cli, source, inPlace }: (typeof adapterPackages)[number]) {
  return async (packed: string, folder: string): Promise<void> => {
    const generated = generatedFiles(join(root, "packages", source));
    const { tarball, unpacked } = await pack(packed, folder, [...CONTENTS.adapter, ...(inPlace ? [] : CONTENTS.pages), ...generated]);
    execFileSync(bin("attw"), [tarball, "--profile", "esm-only"], { stdio: "inherit" });
    await loadAsHost(unpacked);
    if (!inPlace) await evaluateParser(unpacked);
    if (older === null) return console.log("not tried on an older Node: start npm with one to do so");
    await runOn(older.path, cli, join(unpacked, "dist/index.js"));
    if (!inPlace) execFileSync(older.path, [join(unpacked, "dist/cli.js")], { stdio: "inherit" });
    console.log(`a run and the Test button on Node ${older.version}: ${cli}`);
  };
}

/** What an adapter imports only when it needs it: all that it has generated besides the texts of programs. */
function generatedFiles(source: string): string[] {
  const folder = join(source, "generated");
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith(".ts") && !name.endsWith("-text.ts"));
  return names.map((name) => `dist/${name.replace(/\.ts$/, ".js")}`);
}

/** As a shell starts it: by its own first line. */
async function checkCommand(source: string, folder: string): Promise<void> {
  const { unpacked } = await pack(source, folder, CONTENTS.command);
  const manifest = JSON.parse(await readFile(join(unpacked, "package.json"), "utf8")) as { version: string; bin: Record<string, string> };
  const command = join(unpacked, manifest.bin["paperclip-k8s"] ?? "");
  const said = execFileSync(command, ["--version"], { encoding: "utf8" }).trim();
  if (older !== null) execFileSync(older.path, [command, "--version"]);
  if (said !== manifest.version) throw new Error(`paperclip-k8s says version ${said}, its package is ${manifest.version}`);
  console.log(`paperclip-k8s ${said} starts`);
}

async function pack(source: string, folder: string, contents: readonly string[]): Promise<{ tarball: string; unpacked: string }> {
  const packed = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: source, encoding: "utf8" })) as
    | { filename: string }[]
    | Record<string, { filename: string }>;
  const filename = Object.values(packed)[0]?.filename ?? "";
  const tarball = join(folder, filename);
  execFileSync(bin("publint"), [tarball, "--strict"], { stdio: "inherit" });
  checkContents(tarball, [...COMMON, ...contents]);
  execFileSync("tar", ["-xzf", tarball, "-C", folder]);
  const unpacked = join(folder, "package");
  await checkManifest(unpacked);
  await symlink(join(root, "node_modules"), join(unpacked, "node_modules"));
  return { tarball, unpacked };
}

function checkContents(tarball: string, wanted: readonly string[]): void {
  const found = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n").sort();
  const expected = wanted.map((path) => `package/${path}`).sort();
  const [extra, missing] = [found.filter((path) => !expected.includes(path)), expected.filter((path) => !found.includes(path))];
  if (extra.length + missing.length > 0)
    throw new Error(`${tarball}: the contents are not those listed in scripts/check-packages.ts; too many: ${extra}; missing: ${missing}`);
}

/** Nothing of ours runs when somebody installs it, and nothing private of the workspace is needed. */
async function checkManifest(unpacked: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(unpacked, "package.json"), "utf8")) as Readonly<Record<string, object | undefined>>;
  const scripts = Object.keys(manifest.scripts ?? {});
  if (scripts.length > 0) throw new Error(`${unpacked}: the package has scripts: ${scripts}`);
  const own = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith("@paperclip-k8s/"));
  if (own.length > 0) throw new Error(`${unpacked}: the package needs ${own}, which are not published`);
}

/** The host reads `exports["."]`, imports that file by URL and calls `createServerAdapter`. */
async function loadAsHost(unpacked: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(unpacked, "package.json"), "utf8")) as { exports: { ".": { default: string } } };
  const entry = pathToFileURL(join(unpacked, manifest.exports["."].default)).href;
  const module = (await import(entry)) as { createServerAdapter(): { type: string; execute: unknown }; type: string };
  const adapter = module.createServerAdapter();
  if (adapter.type !== module.type || typeof adapter.execute !== "function") throw new Error(`${unpacked}: not an adapter`);
  console.log(`loads as the host loads it: ${adapter.type}`);
}

/** The host's browser worker has no globals, no imports, no exports. */
async function evaluateParser(unpacked: string): Promise<void> {
  const source = await readFile(join(unpacked, "dist/ui-parser.cjs"), "utf8");
  const module = { exports: {} as { parseStdoutLine?: (line: string, ts: string) => { kind: string }[] } };
  new Function("exports", "module", "self", "globalThis", `"use strict";\n{\n${source}\n}`)(module.exports, module, undefined, undefined);
  const entries = module.exports.parseStdoutLine?.("[paperclip] Job agents/x accepted", "2026-01-01T00:00:00Z");
  if (entries?.[0]?.kind !== "system") throw new Error(`ui-parser: a status line became ${JSON.stringify(entries)}`);
  console.log("ui-parser evaluates as the host evaluates it");
}
