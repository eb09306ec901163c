// What npm leaves wrong in a lockfile. Run this after every `npm install`; `--check` only tells.
// - It forgets optional packages of other platforms when it writes one beside an existing node_modules (npm/cli#4828), and `npm ci` then refuses it.
// - It notes which Node each package wants, and `npm ci` warns of those that its own Node does not fit. Nothing here runs on that one: `npm ci`
//   installs the Node that the scripts use, so the notes are taken out and a newcomer's first command warns of nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

interface Entry {
  version?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  link?: boolean;
  optionalDependencies?: Record<string, string>;
  engines?: Record<string, string>;
}

const path = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, Entry> };
const added: string[] = [];

for (const [where, entry] of Object.entries(lock.packages)) {
  for (const [name, wanted] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(where, name)) continue;
    const platform = platformOf(name);
    if (platform === null) throw new Error(`${where} wants ${name}, whose name tells no platform: run npm install again`);
    lock.packages[`node_modules/${name}`] = {
      version: wanted.replace(/^[\^~]/, ""),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      ...platform,
    };
    added.push(name);
  }
}

// The root's own are what the project says about itself.
const noted = Object.entries(lock.packages).filter(([where, entry]) => where !== "" && entry.engines !== undefined);
for (const [, entry] of noted) delete entry.engines;

if (process.argv.includes("--check")) {
  if (added.length > 0) console.error(`package-lock.json lacks ${added.join(", ")}: run node scripts/complete-lockfile.ts`);
  if (noted.length > 0) console.error(`package-lock.json notes a Node for ${noted.length} packages: run node scripts/complete-lockfile.ts`);
  process.exitCode = added.length + noted.length > 0 ? 1 : 0;
} else if (added.length + noted.length > 0) {
  const [root, ...others] = Object.entries(lock.packages);
  lock.packages = Object.fromEntries([root ?? ["", {}], ...others.sort(([a], [b]) => a.localeCompare(b, "en"))]);
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`added ${added.length} packages of other platforms, took ${noted.length} notes of a Node out`);
}

function isLocked(where: string, name: string): boolean {
  for (let folder = where; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, "")) {
    const candidate = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (candidate in lock.packages) return true;
    if (folder === "" || !folder.includes("node_modules")) return `node_modules/${name}` in lock.packages;
  }
}

function platformOf(name: string): Pick<Entry, "os" | "cpu" | "libc"> | null {
  const parts = name.split(/[/-]/);
  const systems: Record<string, string> = {
    windows: "win32",
    win32: "win32",
    darwin: "darwin",
    linux: "linux",
    android: "android",
    freebsd: "freebsd",
    netbsd: "netbsd",
    openbsd: "openbsd",
    openharmony: "openharmony",
    sunos: "sunos",
    aix: "aix",
    wasm32: "wasi",
    wasi: "wasi",
  };
  const cpus = ["arm64", "x64", "arm", "ia32", "ppc64", "ppc64le", "s390x", "riscv64", "loong64", "mips64el", "wasm32"];
  const os = parts.flatMap((part) => systems[part] ?? [])[0];
  const cpu = parts.find((part) => cpus.includes(part)) ?? (parts.includes("arm64gnu") ? "arm64" : undefined);
  if (os === undefined || cpu === undefined) return null;
  const libc = parts.some((part) => part.includes("musl")) ? ["musl"] : parts.some((part) => part.startsWith("gnu")) ? ["glibc"] : null;
  return { cpu: [cpu], ...(libc === null || os !== "linux" ? {} : { libc }), os: [os] };
}
