import { existsSync, readFileSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { contentHash } from "../content-hash.ts";
import { ROOT_FILE_SYSTEM, rootFileSystem } from "../image-store.ts";
import { AGENT_IMAGE, npmPrograms } from "../images.ts";
import type { ImageSettings } from "./node-images.ts";
import { fetchProgram, PINNED } from "./npm-packages.ts";
import { TOOLS_IMAGE } from "./tools-image.ts";

/** An image that only some tests need: made when the first of them asks for it. */
export interface TestImage {
  /** One of these, or an image that every cluster has; null: nothing below. */
  readonly on: TestImageName | typeof AGENT_IMAGE | null;
  readonly settings: (inherited: ImageSettings) => ImageSettings;
  /** Another value whenever the layer would be another. */
  readonly madeFrom: () => string;
  /** Makes the layer as a folder below `work`. */
  readonly layer: (work: string) => Promise<string>;
}

export type TestImageName = "slim" | "musl" | "only-node" | "old-node" | "other-cli" | "postgres" | "tools";

const START_POSTGRES = join(import.meta.dirname, "../../images/start-postgres.sh");
const PATH = "PATH=/usr/local/bin:/usr/bin:/bin";
const HOME = "HOME=/home/agent";
/** The one of this project. */
const NODE = () => npmPrograms()[0]!;
const same = (inherited: ImageSettings): ImageSettings => inherited;

/** As Debian's slim image: its usual programs and libraries, nothing of ours. */
const SLIM_PACKAGES = [
  ...["libc6", "libgcc-s1", "libstdc++6", "libtinfo6", "libacl1", "libattr1", "libselinux1", "libpcre2-8-0", "libgmp10", "zlib1g"],
  ...["coreutils", "dash", "bash", "sed", "grep", "findutils", "gzip", "tar"],
];
/** As Alpine: musl's loader and busybox, and no file of glibc. */
const MUSL_PACKAGES = ["musl", "busybox-static"];
/** On the agents' image, which has most of the libraries. Without its compiler of queries, which is larger than all the rest. */
const POSTGRES_PACKAGES = [
  ...["postgresql-15", "postgresql-client-15", "libpq5", "tzdata", "libreadline8", "readline-common", "libicu72", "libxml2"],
  ...["libxslt1.1", "libpam0g", "libaudit1", "libcap-ng0", "libuuid1"],
];

export const TEST_IMAGES: Readonly<Record<TestImageName, TestImage>> = {
  slim: fromDebian("slim", SLIM_PACKAGES, null, () => ({ User: "1000:1000", Cmd: ["/bin/bash"], Env: [PATH, HOME] })),
  musl: fromDebian("musl", MUSL_PACKAGES, null, () => ({ User: "1000:1000", Cmd: ["/bin/sh"], Env: [PATH, HOME] })),
  "only-node": {
    on: "slim",
    settings: same,
    madeFrom: () => NODE().version,
    layer: async (work) => {
      const layer = join(work, "only-node");
      await mkdir(join(layer, "usr/local/bin"), { recursive: true });
      await copyFile(NODE().path, join(layer, "usr/local/bin/node"));
      return layer;
    },
  },
  "old-node": fromNpm("slim", "oldNode"),
  "other-cli": fromNpm(AGENT_IMAGE, "otherClis"),
  tools: TOOLS_IMAGE,
  postgres: {
    ...fromDebian("postgres", POSTGRES_PACKAGES, AGENT_IMAGE, withDatabase),
    madeFrom: () => contentHash([debianHash(POSTGRES_PACKAGES), readFileSync(START_POSTGRES)]),
    layer: async (work) => addPostgres(await rootFileSystem(work, "postgres", POSTGRES_PACKAGES)),
  },
};

function withDatabase(inherited: ImageSettings): ImageSettings {
  return { ...inherited, Cmd: ["start-postgres"], Env: [...inherited.Env, "PGHOST=127.0.0.1", "PGUSER=postgres"] };
}

const debianHash = (packages: readonly string[]): string => contentHash([packages.join(), readFileSync(ROOT_FILE_SYSTEM)]);

function fromDebian(name: TestImageName, packages: readonly string[], on: TestImage["on"], settings: TestImage["settings"]): TestImage {
  return { on, settings, madeFrom: () => debianHash(packages), layer: (work) => rootFileSystem(work, name, packages) };
}

function fromNpm(on: TestImage["on"], group: keyof typeof PINNED): TestImage {
  return {
    on,
    settings: same,
    madeFrom: () => contentHash([JSON.stringify(PINNED[group])]),
    layer: async (work) => {
      const layer = join(work, group);
      for (const program of PINNED[group]) await fetchProgram(program, join(layer, "usr/local/bin"), work);
      return layer;
    },
  };
}

/** Debian's own wrappers need Perl, so the programs themselves are put on the PATH. */
async function addPostgres(layer: string): Promise<string> {
  const programs = join(layer, "usr/lib/postgresql/15/bin");
  for (const name of await readdir(programs)) {
    if (!existsSync(join(layer, "usr/bin", name))) await symlink(`../lib/postgresql/15/bin/${name}`, join(layer, "usr/bin", name));
  }
  await mkdir(join(layer, "usr/local/bin"), { recursive: true });
  await copyFile(START_POSTGRES, join(layer, "usr/local/bin/start-postgres"));
  await chmod(join(layer, "usr/local/bin/start-postgres"), 0o755);
  await mkdir(join(layer, "var/lib/postgresql"), { recursive: true });
  await chmod(join(layer, "var/lib/postgresql"), 0o1777); // whichever user the pod has
  return layer;
}
