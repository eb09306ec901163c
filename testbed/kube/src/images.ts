import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { adapters, cliNames } from "../../../packages/adapters.ts";
import { contentHash } from "./content-hash.ts";

export const PAUSE_IMAGE = "localhost/pause:1";
export const SHELL_IMAGE = "localhost/shell:1";
export const AGENT_IMAGE = "localhost/agent:1";

/** An image of which every layer is a tar archive. */
export interface Image {
  readonly name: string;
  readonly user: string;
  readonly command: readonly string[];
  readonly env: readonly string[];
}

const PATH = "PATH=/usr/local/bin:/usr/bin:/bin";

export const IMAGES = {
  pause: { name: PAUSE_IMAGE, user: "65535:65535", command: ["/pause"], env: [PATH] },
  shell: { name: SHELL_IMAGE, user: "1000:1000", command: ["/bin/sh"], env: [PATH, "HOME=/home/agent"] },
  agent: { name: AGENT_IMAGE, user: "1000:1000", command: ["/bin/bash"], env: [PATH, "HOME=/home/agent"] },
} as const satisfies Record<string, Image>;

export const SHELL_PACKAGES = ["busybox-static"];

/** The programs agents use, and the libraries those need: nothing resolves dependencies here. */
export const AGENT_PACKAGES = [
  ...["libc6", "libgcc-s1", "libstdc++6", "libtinfo6", "libacl1", "libattr1", "libselinux1", "libpcre2-8-0", "libgmp10", "zlib1g"],
  ...["coreutils", "dash", "bash", "sed", "grep", "findutils", "gzip", "tar", "git", "ripgrep", "ca-certificates", "procps", "libproc2-0"],
  ...["libcurl3-gnutls", "libnghttp2-14", "libidn2-0", "libunistring2", "librtmp1", "libssh2-1", "libpsl5", "libnettle8", "libhogweed6"],
  ...["libgnutls30", "libp11-kit0", "libtasn1-6", "libffi8", "libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0"],
  ...["libcom-err2", "libkeyutils1", "libldap-2.5-0", "libsasl2-2", "libzstd1", "libbrotli1", "libssl3", "libexpat1"],
  ...["libncursesw6", "libsystemd0", "libcap2", "libgcrypt20", "liblzma5", "liblz4-1", "libgpg-error0"],
];

/** Programs from this project's own dependencies, so that package.json says their versions. */
const NPM_PROGRAMS = [["node", "node"], ...cliNames.map((name) => [name, adapters[name].npm] as const)] as const;

export interface NpmProgram {
  readonly name: string;
  readonly version: string;
  readonly path: string;
}

export function npmPrograms(): NpmProgram[] {
  const require = createRequire(import.meta.url);
  return NPM_PROGRAMS.map(([name, packageName]) => {
    const manifestPath = findManifest(require, packageName);
    const manifest = JSON.parse(readFileSync(manifestPath, "utf8")) as { version: string; bin: Record<string, string> };
    return { name, version: manifest.version, path: join(dirname(manifestPath), manifest.bin[name]!) };
  });
}

/** Not every package lets its package.json be resolved, so it is looked for by path. */
function findManifest(require: NodeJS.Require, packageName: string): string {
  const folders = require.resolve.paths(packageName) ?? [];
  const found = folders
    .map((folder) => join(folder, packageName, "package.json"))
    .find((path) => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) throw new Error(`${packageName} is not installed: run npm ci first`);
  return found;
}

/** Changes whenever an image would. */
export function imagesHash(inputs: readonly Buffer[]): string {
  const programs = npmPrograms().map(({ name, version, path }) => `${name} ${version} ${statSync(path).size}`);
  return contentHash([JSON.stringify([IMAGES, SHELL_PACKAGES, AGENT_PACKAGES, programs]), ...inputs]);
}
