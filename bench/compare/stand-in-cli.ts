import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openCluster } from "@paperclip-k8s/kube";
import { type CliName, loadKits } from "../../packages/adapters.ts";
import { contentHash } from "../../testbed/kube/src/content-hash.ts";
import { loadImage } from "../../testbed/kube/src/images/load-image.ts";
import { NodeImages } from "../../testbed/kube/src/images/node-images.ts";
import { AGENT_IMAGE } from "../../testbed/kube/src/images.ts";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { loadRecording } from "../../testbed/suite/src/recorded-cli.ts";
import { type EventLines, eventLinesOf } from "./event-lines.ts";

/** The variable that says how many lines the stand-in is to write, and how often: `<lines> <milliseconds>`. */
export const SCRIPT_VARIABLE = "BENCH_SCRIPT";

/** The image with which other adapters prepare their pods; any with a shell serves. */
const PREPARES = "busybox:1.36";

/** An image of the agents in which a CLI is this stand-in, whichever adapter starts it: any that finds its CLI on the PATH can be measured. */
export async function standInImage(bed: Bed, cli: CliName): Promise<string> {
  const kits = await loadKits();
  const program = programOf(eventLinesOf(loadRecording(cli, "success").lines, kits[cli].cli.createParser()));
  if (bed.pocket !== null) {
    const folder = await place(join(bed.pocket.dir, `stand-in-${cli}`), cli, program);
    const image = `stand-in-${cli}:1`;
    const { path = [] } = bed.pocket.images[bed.images.agent] ?? {};
    bed.pocket.images[image] = { path: [folder, ...path] };
    bed.pocket.images[PREPARES] = { path };
    return image;
  }
  const cluster = openCluster();
  await new NodeImages(cluster).tag(AGENT_IMAGE, `docker.io/library/${PREPARES}`);
  const layer = async (work: string): Promise<string> => {
    await place(join(work, "layer/usr/local/bin"), cli, program);
    return join(work, "layer");
  };
  return await loadImage(cluster, `stand-in-${cli}`, {
    on: AGENT_IMAGE,
    settings: (inherited) => inherited,
    madeFrom: () => contentHash([program, "with sh"]),
    layer,
  }).finally(() => cluster.close());
}

async function place(folder: string, cli: CliName, program: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, cli), program);
  await chmod(join(folder, cli), 0o755);
  // Another adapter's scripts may need more of it than Debian's own can do.
  await rm(join(folder, "sh"), { force: true });
  await symlink("/bin/bash", join(folder, "sh"));
  return folder;
}

/** Writes the recorded events of a turn, with as many texts in its middle as it is asked for, each with the time of its writing. */
function programOf(lines: EventLines): string {
  return `#!/usr/bin/env node
const startedAt = Date.now();
const { first, text, said, last } = ${JSON.stringify(lines)};
if (process.argv.includes("--version")) {
  console.log("1.0.0 (stand-in)");
  process.exit(0);
}
const [lines, everyMs] = (process.env.${SCRIPT_VARIABLE} ?? "1 1").split(" ").map(Number);
let n = 0;
const line = (at) => {
  const stamped = "line " + n++ + " at " + at;
  // An adapter may leave out an event whose id it has seen.
  const change = (key, value) => (value === said ? stamped : (key === "id" || key === "uuid") && typeof value === "string" ? value + "-" + n : value);
  console.log(JSON.stringify(JSON.parse(text), change));
};
const end = () => { for (const each of last) console.log(each); };
for (const each of first) console.log(each);
line(startedAt);
const flow = setInterval(() => {
  if (n < lines) line(Date.now());
  if (n < lines) return;
  clearInterval(flow);
  end();
}, everyMs);
process.stdin.resume().on("error", () => {});
// What it is asked to do is nothing to it, and an open stdin must not keep it.
process.stdin.unref?.();
`;
}
