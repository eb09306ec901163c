import { randomInt, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../../packages/paperclip/src/testing/seeded-random.ts";
import { type Bed, startBed } from "./bed.ts";
import { KEYS } from "./run.ts";
import { type Finished, ServerProcess } from "./server-process.ts";

// The server is killed at random moments, again and again: every run ends once, and nothing of it is lost or done twice.

const LONG = process.env.LONG === "1";
const [RUNS, KILLS] = LONG ? [20, 20] : [3, 2];
/** How long a server lives and a line takes: enough for a race in either case. */
const [LIFE_MS, LINE_MS] = LONG ? [3500, 100] : [1500, 40];
/** SEED=… repeats a run of this test, as far as a race can be repeated. */
const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));
const MINUTES = LONG ? 15 : 6;

let bed: Bed;
const servers: ServerProcess[] = [];
beforeAll(async () => {
  bed = await startBed();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await bed.stop();
});

/** One piece of work, which many runs may carry on. */
interface Work {
  readonly key: string;
  readonly lines: number;
  /** Every run that ever had it, oldest first. */
  readonly runs: string[];
  readonly ends: Finished[];
}

const scriptOf = ({ key, lines }: Work) =>
  `require("node:fs").appendFileSync(${JSON.stringify(`${bed.data}/started-${key}`)}, "x");
   let n = 0; const t = setInterval(() => { console.log("line " + ++n); if (n === ${lines}) clearInterval(t); }, ${LINE_MS})`;
const outputOf = ({ lines }: Work) => Array.from({ length: lines }, (_, index) => `line ${index + 1}\n`).join("");

/** As a host after a restart: a new run for each piece of work that has no end on record. */
function startServer(works: readonly Work[]): ServerProcess {
  const runs = works.map((work) => {
    const run = { runId: randomUUID(), key: work.key, script: scriptOf(work), continues: [...work.runs] };
    work.runs.push(run.runId);
    return run;
  });
  const server = new ServerProcess(bed, runs, { timeouts: { lockDecision: 500 }, lingerMs: 3000 });
  servers.push(server);
  return server;
}

/** What its runs reported before the next server was given their work; a run that lost its Job has nothing to report. */
function record(server: ServerProcess, works: readonly Work[]): void {
  for (const work of works) {
    const end = server.finished.get(work.runs.at(-1) ?? "");
    if (end !== undefined && end.outcome.kind !== "superseded") work.ends.push(end);
  }
}

const unfinished = (works: readonly Work[]) => works.filter(({ ends }) => ends.length === 0);

async function killAgainAndAgain(works: readonly Work[], random: (below: number) => number, overlap: boolean): Promise<void> {
  let server = startServer(works);
  for (let kill = 1; kill <= KILLS; kill++) {
    await sleep(500 + random(LIFE_MS));
    const signal = random(2) === 0 ? "SIGKILL" : "SIGTERM";
    if (overlap) {
      // A rolling deploy, or a server that was thought to be dead.
      const old = server;
      record(old, works);
      server = startServer(unfinished(works));
      await sleep(random(LIFE_MS));
      await old.kill(signal);
    } else {
      await server.kill(signal);
      record(server, works);
      server = startServer(unfinished(works));
    }
  }
  const rest = unfinished(works);
  await Promise.all(rest.map((work) => server.done(work.runs.at(-1) ?? "")));
  record(server, rest);
}

test.each([
  ["one server after the other", false],
  ["two servers alive at once", true],
])(
  `${RUNS} runs, ${KILLS} kills, %s: every run ends once, whole and in order`,
  async (_, overlap) => {
    console.log(`SEED=${SEED}`);
    const random = createRandom(SEED + Number(overlap));
    const works = Array.from({ length: RUNS }, (): Work => {
      return { key: randomUUID(), lines: 20 + random(KILLS * 30), runs: [], ends: [] };
    });
    await killAgainAndAgain(works, random, overlap);
    for (const work of works) {
      expect(work.ends.map(({ outcome }) => outcome)).toMatchObject([{ kind: "exited", exitCode: 0 }]);
      expect(work.ends[0]?.output).toBe(outputOf(work));
    }
    const started = await Promise.all(works.map(({ key }) => startsOf(key)));
    expect(started).toEqual(works.map(() => 1));
    await wakeAgain(works);
    const mine = new Set(works.flatMap(({ runs }) => runs));
    const left = async (kind: "jobs" | "secrets") =>
      (await bed.list(kind)).filter(({ metadata }) => mine.has(metadata.labels?.[KEYS.runId] ?? "")).length;
    await expect.poll(() => left("jobs")).toBe(0);
    await expect.poll(() => left("secrets")).toBe(0);
  },
  MINUTES * 60_000,
);

/** A Job that is over and on record may be left where its server was killed in between: the next run of its key removes it, and does its own work. */
async function wakeAgain(works: readonly Work[]): Promise<void> {
  const wakes = works.map(({ key, runs }) => {
    return { runId: randomUUID(), key, script: `console.log("next")`, continues: [], recorded: [...runs] };
  });
  const server = new ServerProcess(bed, wakes, { timeouts: { lockDecision: 500 } });
  servers.push(server);
  const outputs = await Promise.all(wakes.map(async ({ runId }) => (await server.done(runId)).output));
  expect(outputs).toEqual(works.map(() => "next\n"));
}

/** How often its program was started. */
async function startsOf(key: string): Promise<number> {
  return (await readFile(`${bed.data}/started-${key}`, "utf8")).length;
}
