import { setTimeout as sleep } from "node:timers/promises";
import { loadTestImage, openCluster } from "@paperclip-k8s/kube";
import { type CliName, cliNames, loadKits } from "../../packages/adapters.ts";
import type { Bed } from "../../testbed/suite/src/bed.ts";
import { bedPolicy } from "../../testbed/suite/src/bed-policy.ts";
import { BUDGETS } from "../budgets.ts";
import { median, ms, type Row } from "../figures.ts";
import type { Host } from "../host.ts";
import type { RunRecord } from "../protocol.ts";

const SETTLE_MS = 1_000;

/** A way to have a CLI in a pod: its image, and the operator's policy. */
interface Way {
  readonly name: string;
  readonly image: string;
  readonly tools: "always" | "never";
  readonly policy: string;
}

/** The real CLI out of the tools image, in an image with nothing of ours, against the same one in an image that has everything; in turns. The node has all images. */
export async function measureTools(host: Host, bed: Bed, rounds: number): Promise<Row[]> {
  const cluster = openCluster();
  const [slim, tools] = [await loadTestImage(cluster, "slim"), await loadTestImage(cluster, "tools")];
  cluster.close();
  const policy = (text: string) => bedPolicy(bed.data, text).PAPERCLIP_K8S_POLICY!;
  const from = (mount: string) => policy(`tools: { image: "${tools}", mount: ${mount} }`);
  const own: Way = { name: "in the image", image: bed.images.agent, tools: "never", policy: policy("") };
  const others: readonly Way[] = [
    { name: "from the tools image, as a volume", image: slim, tools: "always", policy: from("image-volume") },
    { name: "from the tools image, copied", image: slim, tools: "always", policy: from("copy") },
  ];
  const kits = await loadKits();
  const rows: Row[] = [];
  for (const cli of cliNames) {
    const times = await inTurns(host, cli, [own, ...others], rounds);
    rows.push(...others.map((way) => row(`${kits[cli].title} ${way.name}`, median(times.get(way)!), median(times.get(own)!), rounds)));
  }
  return rows;
}

async function inTurns(host: Host, cli: CliName, ways: readonly Way[], rounds: number): Promise<ReadonlyMap<Way, number[]>> {
  const times = new Map(ways.map((way) => [way, [] as number[]]));
  // The first of each is not counted: the machine reads the files from its disk.
  for (let round = 0; round <= rounds; round++) {
    for (const way of ways) {
      const config = { image: way.image, tools: way.tools };
      const took = startedAfter(await host.run({ kind: "version", program: cli }, { config, policy: way.policy }));
      if (round > 0) times.get(way)!.push(took);
      await sleep(SETTLE_MS);
    }
  }
  return times;
}

function startedAfter({ calledAt, log, error }: RunRecord): number {
  const started = log.find(({ text }) => text.includes("CLI started"));
  if (started === undefined) throw new Error(`the CLI has not started: ${error ?? log.map(({ text }) => text).join("")}`);
  return started.at - calledAt;
}

function row(what: string, took: number, own: number, rounds: number): Row {
  return {
    what: `\`execute\` → CLI started, ${what}, over an image that has it: medians of ${rounds}`,
    budget: `${BUDGETS.tools} ms more`,
    measured: `${ms(took - own)} more (${ms(took)} against ${ms(own)})`,
    ok: took - own <= BUDGETS.tools,
  };
}
