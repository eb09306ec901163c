import type { Bed } from "../testbed/suite/src/bed.ts";
import type { Row } from "./figures.ts";
import { type Host, startHost } from "./host.ts";
import { measureCancel } from "./measure/cancel.ts";
import { measureCleanUp } from "./measure/clean-up.ts";
import { measureCliStart } from "./measure/cli-start.ts";
import { type Cost, cpuRow } from "./measure/cost.ts";
import { measureFlood } from "./measure/flood.ts";
import { measureFresh } from "./measure/fresh.ts";
import { measureMissingImage } from "./measure/image.ts";
import { measureImport } from "./measure/import.ts";
import { measureRound } from "./measure/latency.ts";
import { measureLoss } from "./measure/loss.ts";
import { measureMany } from "./measure/many.ts";
import { measureNext } from "./measure/next.ts";
import { measureOutput } from "./measure/output.ts";
import { measurePod } from "./measure/pod.ts";
import { measurePolls } from "./measure/polls.ts";
import { measureReattach } from "./measure/reattach.ts";
import { measureSilence } from "./measure/silence.ts";
import { measureStart } from "./measure/start.ts";
import { measureState } from "./measure/state.ts";
import { measureTools } from "./measure/tools.ts";
import { type Options, SECTIONS, type Section } from "./options.ts";
import { settled } from "./settle.ts";
import { ONE_LINE } from "./stamp.ts";

interface Stage {
  readonly options: Options;
  readonly bed: Bed;
  /** The server of most sections; its clients and connections are made. */
  readonly host: Host;
  /** What a run costs whatever its length, once it is measured. */
  anyLength: Cost | null;
}

type Measure = (stage: Stage) => Promise<Row[]> | Row[];

const MEASURES: Readonly<Record<Section, Measure>> = {
  start: async (stage) => {
    const { rows, cost } = await measureStart(stage.host, stage.bed, stage.options.pairs);
    stage.anyLength = cost;
    return rows;
  },
  next: ({ host, bed, options }) => measureNext(host, bed, options.turns),
  latency: async ({ host, bed, options, anyLength }) => {
    const rows: Row[] = [];
    for (const count of options.runs) {
      report(`  ${count} at once for ${options.seconds} s`);
      const round = await measureRound(host, bed, count, options.seconds);
      rows.push(...round.rows, ...(anyLength === null ? [] : [cpuRow(count, options.seconds, round.cost, anyLength)]));
    }
    return rows;
  },
  loss: ({ bed, options }) => measureLoss(bed, Math.min(options.seconds, 10)),
  flood: ({ bed }) => measureFlood(bed),
  silence: async ({ host, bed, options }) => {
    const deaf = startHost(bed, { loss: 1 });
    try {
      return await measureSilence(host, deaf, options.silence);
    } finally {
      await settled(bed);
      deaf.stop();
    }
  },
  "clean-up": ({ host, bed }) => measureCleanUp(host, bed),
  fresh: ({ bed }) => measureFresh(bed),
  pod: ({ host, bed }) => measurePod(host, bed),
  output: ({ host, options }) => measureOutput(host, options.megabytes, report),
  polls: ({ host, options }) => measurePolls(host, Math.min(options.seconds, 10)),
  image: ({ host, bed }) => measureMissingImage(host, bed),
  tools: ({ host, bed, options }) => (bed.kind === "kube" ? measureTools(host, bed, Math.min(options.pairs, 3)) : []),
  many: ({ host, bed, options }) => (bed.pocket === null ? [] : measureMany(host, bed, bed.pocket, options.seconds)),
  reattach: ({ bed }) => (bed.pocket === null ? [] : measureReattach(bed)),
  cancel: ({ bed }) => measureCancel(bed),
  state: () => measureState(3),
  "cli-start": ({ options }) => measureCliStart(options.pairs),
  import: () => measureImport(),
};

/** Each section that was asked for, one after the other. */
export async function measureSections(options: Options, bed: Bed): Promise<Row[]> {
  const host = startHost(bed);
  try {
    await host.run(ONE_LINE);
    const stage: Stage = { options, bed, host, anyLength: null };
    const rows: Row[] = [];
    for (const section of SECTIONS.filter((each) => options.sections.has(each))) {
      const begun = Date.now();
      report(section);
      // Runs are cleaned up some seconds after their results.
      await settled(bed);
      rows.push(...(await MEASURES[section](stage)));
      report(`  ${((Date.now() - begun) / 1000).toFixed(0)} s`);
    }
    return rows;
  } finally {
    host.stop();
  }
}

const report = (text: string): void => void process.stderr.write(`${text}\n`);
