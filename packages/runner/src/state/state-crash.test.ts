import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { cleanUp, sleep, waitFor } from "../testing/runner-fixture.ts";
import { seededRandom } from "./testing/seeded-random.ts";
import {
  cleanUpFolders,
  generationsIn,
  killPod,
  makeFolder,
  restoreAnew,
  startSave,
  statePod,
  stateSpec,
} from "./testing/state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

const LONG = Boolean(process.env.LONG);
const ROUNDS = LONG ? 400 : 8;
const FILE_COUNT = 20;

/** A state whose files all say the same number: a mix of two states shows. */
function writeState(home: string, mark: string): void {
  for (let file = 0; file < FILE_COUNT; file++) writeFileSync(join(home, "data/files", `${file}`), `${mark}\n`.repeat(5_000));
}

/** The mark that every file has, from first byte to last. */
function markOf(home: string): string {
  const marks = new Set<string>();
  for (let file = 0; file < FILE_COUNT; file++)
    for (const line of readFileSync(join(home, "data/files", `${file}`), "utf8").split("\n")) marks.add(line);
  marks.delete("");
  return [...marks].join(" ");
}

async function homeWithState(saved: string, mark: string): Promise<string> {
  const { home } = stateSpec(saved);
  await statePod({ ...stateSpec(saved), home }, "true").start().ended;
  writeState(home, mark);
  return home;
}

test("a save killed at any moment leaves the state before it or its own, whole", { timeout: 600_000 }, async () => {
  const saved = makeFolder();
  const home = await homeWithState(saved, "0");
  const began = performance.now();
  await startSave({ saved, home }).answer;
  let about = performance.now() - began;
  const random = seededRandom();
  const seen = { before: 0, own: 0 };
  for (let round = 1, standing = "0"; round <= ROUNDS; round++) {
    writeState(home, `${round}`);
    const save = startSave({ saved, home, tag: `a${round}` });
    await Promise.race([save.answer, sleep(about * (0.7 + random.below(600) / 1000))]);
    save.kill();
    const answer = await save.answer;
    const found = restoreAnew(saved);
    const mark = markOf(found.home);
    expect([standing, `${round}`], `seed ${random.seed}, round ${round}`).toContain(mark);
    expect(found.notes, `seed ${random.seed}, round ${round}`).toEqual([]);
    if (answer !== null) expect(mark).toBe(`${round}`);
    seen[mark === standing ? "before" : "own"]++;
    // Stays near the moment of the swap, whatever else the machine does.
    about *= mark === standing ? 1.1 : 0.9;
    standing = mark;
  }
  // That many meet both sides of the swap.
  if (LONG) expect(Math.min(seen.before, seen.own)).toBeGreaterThan(0);
});

test("many savers and readers at once: always a whole state, and nothing half-written in the end", async () => {
  const saved = makeFolder();
  const homes = await Promise.all(["a", "b", "c"].map((mark) => homeWithState(saved, mark)));
  await startSave({ saved, home: homes[0] ?? "" }).answer;
  let over = false;
  const savers = homes.map(async (home, index) => {
    for (let round = 0; round < (LONG ? 8 : 3); round++) {
      const answer = await startSave({ saved, home, tag: `${"abc"[index]}${round}` }).answer;
      expect(answer).toMatchObject({ kind: "saved" });
    }
  });
  const reader = (async () => {
    while (!over) {
      expect(["a", "b", "c"]).toContain(markOf(restoreAnew(saved).home));
      await sleep(5);
    }
  })();
  await Promise.all(savers);
  over = true;
  await reader;
  expect(["a", "b", "c"]).toContain(markOf(restoreAnew(saved).home));
  expect(readdirSync(saved).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test.concurrent("a state that another run replaced meanwhile: this run's stands, and the note says so", async () => {
  const saved = makeFolder();
  const slow = statePod(stateSpec(saved), "echo slow > data/files/turns; echo up; while [ ! -e go ]; do sleep 0.05; done");
  const running = slow.start();
  await waitFor(() => readFileSync(slow.spec.files.output).length > 0, "the CLI");
  const other = await statePod(stateSpec(saved), "echo other > data/files/turns").start().ended;
  writeFileSync(join(slow.spec.state?.home ?? "", "go"), "");
  const ended = await running.ended;
  expect(ended.end?.state).toMatchObject({ saved: true });
  expect(JSON.stringify(ended.meta)).toContain(`another run saved its state meanwhile (${other.end?.state?.last?.generation})`);
  expect(restoreAnew(saved).point).toEqual(ended.end?.state?.last);
  expect(generationsIn(saved)).toHaveLength(2);
});

test.concurrent("a runner killed while it saves: the next run finds a whole state", async () => {
  const saved = makeFolder();
  const random = seededRandom();
  for (let round = 0; round < (LONG ? 20 : 3); round++) {
    const spec = stateSpec(saved);
    const pod = statePod(spec, `for i in 0 1 2 3 4 5 6 7 8 9; do yes ${round} | head -n 200000 > data/files/$i; done; echo done`);
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the CLI's end");
    await sleep(random.below(120));
    await killPod(pod, running);
    const found = restoreAnew(saved);
    if (found.point === null) continue;
    const [first = ""] = readFileSync(join(found.home, "data/files/0"), "utf8").split("\n");
    for (let file = 0; file < 10; file++)
      expect(readFileSync(join(found.home, "data/files", `${file}`), "utf8"), `seed ${random.seed}`).toBe(`${first}\n`.repeat(200_000));
  }
});
