import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import type { RunRequest } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { type CachedMount, isMounted, mountCached, whyNoCachedMount } from "./cached-mount.ts";
import { calm } from "./calm.ts";
import { startRun } from "./run.ts";

// The server sees the volume through a client that keeps attributes for an hour; the pod writes to the folder behind it.

const CACHE_SEC = 3600;
const IMAGE = "own-mounts:1";
const unable = whyNoCachedMount();
const long = process.env.LONG !== undefined;

let bed: Bed;
let folder: string;
let behind: string;
let seen: string;
let mount: CachedMount | undefined;

beforeAll(async () => {
  if (unable !== null) return;
  folder = await realpath(await mkdtemp(join(tmpdir(), "cached-")));
  seen = join(folder, "seen");
  const path = [folder, ...(process.env.PATH ?? "").split(delimiter)];
  bed = await startBed({ images: { [IMAGE]: { path }, "agent:1": { path: [dirname(process.execPath), ...path.slice(1)] } } });
  behind = await bed.addVolume("behind");
  mount = await mountCached(behind, seen, CACHE_SEC);
  await writeNode(join(folder, "node"));
});

afterEach(() => calm(bed));
afterAll(async () => {
  try {
    await bed?.stop();
  } finally {
    await mount?.unmount();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
  if (mount !== undefined) expect(isMounted(seen)).toBe(false);
});

/** Pods of the embedded cluster share the server's mounts: their node gets mounts of its own, with the folder itself at the path. */
async function writeNode(file: string): Promise<void> {
  const inside = `mount --bind "$0" "$1" && shift && exec "${process.execPath}" "$@"`;
  await writeFile(file, `#!/bin/sh\nexec unshare --mount sh -c '${inside}' '${behind}' '${seen}' "$@"\n`);
  await chmod(file, 0o755);
}

function throughCache(request: RunRequest): RunRequest {
  return {
    ...request,
    container: { ...request.container, workingDir: seen, ...(bed.kind === "pocket" ? { image: IMAGE } : {}) },
    volumes: { ...request.volumes, shared: { claimName: "behind", mountPath: seen, subPath: null } },
    output: { root: seen, path: `${seen}/logs/${request.runId}.ndjson` },
  };
}

/** Writes a line, or as many as it is asked for, whenever a file with the next number appears in the folder. */
const asked = (folder: string) => `const fs = require("node:fs"); let n = 0, line = 0;
  console.log("on"); const t = setInterval(() => { const file = ${JSON.stringify(folder)} + "/ask-" + n;
    if (!fs.existsSync(file)) return; const text = fs.readFileSync(file, "utf8"); if (text === "") return; n++;
    if (text === "end") return clearInterval(t); for (let i = 0; i < Number(text); i++) console.log("line " + line++); }, 20)`;

test.skipIf(unable !== null)(
  `a line is seen although its file's size is cached for ${CACHE_SEC / 3600} h, and none is lost${unable === null ? "" : ` (${unable})`}`,
  async () => {
    const asks = await mkdtemp(join(behind, "asks-"));
    await chmod(asks, 0o777);
    let number = 0;
    // As the pod sees the folder, the question is there at once.
    const ask = (text: string) => writeFile(join(asks, `ask-${number++}`), text);
    const run = startRun(bed, { script: asked(join(seen, relative(behind, asks))), change: throughCache });
    await run.saw("on\n");
    let lines = 0;
    for (const count of [1, 1, 50, 1, ...(long ? [500, 1, 1] : [])]) {
      await ask(String(count));
      lines += count;
      // Who waits for the cache waits past every hang limit.
      await run.saw(`line ${lines - 1}\n`);
    }
    await ask("end");
    const { outcome, output } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
    expect(output.toString()).toBe(`on\n${Array.from({ length: lines }, (_, index) => `line ${index}\n`).join("")}`);
  },
);
