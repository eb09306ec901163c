import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { RUNNER_EXIT } from "../records.ts";
import { cleanUp } from "../testing/runner-fixture.ts";
import { BLOCK } from "./tar-header.ts";
import { seededRandom } from "./testing/seeded-random.ts";
import { cleanUpFolders, generationsIn, makeFolder, restoreAnew, startSave, statePod, stateSpec } from "./testing/state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

const ROUNDS = process.env.LONG ? 400 : 20;
const turns = (home: string): string => readFileSync(join(home, "data/files/turns"), "utf8");

interface Generations {
  readonly saved: string;
  readonly first: string;
  readonly second: string;
}

async function saveTwice(): Promise<Generations> {
  const saved = makeFolder();
  const first = await statePod(stateSpec(saved), "echo one > data/files/turns; head -c 3000 /dev/urandom > data/files/more").start().ended;
  const second = await statePod(stateSpec(saved), "echo two > data/files/turns").start().ended;
  const nameOf = ({ end }: typeof first): string => end?.state?.last?.generation ?? "";
  return { saved, first: nameOf(first), second: nameOf(second) };
}
let pattern: Promise<Generations> | undefined;

/** Two generations: "one", and "two" which stands. Saved once, copied for each test. */
async function twoGenerations(): Promise<Generations> {
  pattern ??= saveTwice();
  const { saved: from, first, second } = await pattern;
  const saved = makeFolder();
  cpSync(from, saved, { recursive: true });
  return { saved, first: join(saved, first), second: join(saved, second) };
}

test("a torn or changed generation is passed over for the one before it, wherever the damage is", async () => {
  const { saved, second } = await twoGenerations();
  const whole = readFileSync(second);
  // The block behind the archive's end only helps to find the manifest.
  const manifestEnd = whole.subarray(0, -BLOCK).lastIndexOf("\n") + 1;
  const random = seededRandom();
  for (let round = 0; round < ROUNDS; round++) {
    const at = random.below(whole.length);
    const torn = round % 2 === 0;
    const bytes = torn ? whole.subarray(0, at) : Buffer.from(whole);
    if (!torn) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    writeFileSync(second, bytes);
    const found = restoreAnew(saved);
    // A flipped bit in the zeros between members, or a file that lacks only the zeros at its end, costs nothing.
    const isWhole = found.notes.length === 0;
    expect([turns(found.home), torn && isWhole && at < manifestEnd], `seed ${random.seed}, round ${round}, byte ${at}`).toEqual([
      isWhole ? "two\n" : "one\n",
      false,
    ]);
  }
});

test.concurrent("is named in a note, the state before it is restored, and the run goes on from there", async () => {
  const { saved, first, second } = await twoGenerations();
  truncateSync(second, 600);
  const ended = await statePod(stateSpec(saved), "cat data/files/turns; echo three >> data/files/turns").start().ended;
  expect(ended.stdout.toString()).toBe("one\n");
  expect(join(saved, ended.end?.state?.restored?.generation ?? "")).toBe(first);
  const notes = JSON.stringify(ended.meta.filter((record) => record.type === "note"));
  expect(notes).toContain("cannot be used: it is torn");
  expect(notes).toContain("an earlier state was restored");
  expect(notes).not.toContain("another run");
  expect(turns(restoreAnew(saved).home)).toBe("one\nthree\n");
  // What there is to fall back on is the one that could be used.
  truncateSync(join(saved, ended.end?.state?.last?.generation ?? ""), 600);
  expect(turns(restoreAnew(saved).home)).toBe("one\n");
});

test.concurrent("nothing that can be used is a fresh start, with a note", async () => {
  const { saved, first, second } = await twoGenerations();
  for (const file of [first, second]) truncateSync(file, 700);
  const ended = await statePod(stateSpec(saved), "ls -A data/files; echo anew > data/files/turns").start().ended;
  expect(ended.stdout.toString()).toBe("");
  expect(ended.end?.state).toMatchObject({ restored: null, saved: true });
  expect(JSON.stringify(ended.meta)).toContain("no saved state can be used: a fresh start");
  expect(turns(restoreAnew(saved).home)).toBe("anew\n");
});

test.each([
  ["empty", ""],
  ["torn", '{"format":1,"curr'],
  ["of a file that is gone", null],
])("a pointer that is %s: the newest whole one", async (_, text) => {
  const { saved, first, second } = await twoGenerations();
  if (text === null) rmSync(second);
  else writeFileSync(join(saved, "current"), text);
  const found = restoreAnew(saved);
  expect(turns(found.home)).toBe(text === null ? "one\n" : "two\n");
  expect(join(saved, found.point?.generation ?? "")).toBe(text === null ? first : second);
});

test.concurrent("an archive cannot write beside the parts", async () => {
  const saved = makeFolder();
  const { home } = stateSpec(saved);
  writeFileSync(join(home, "other"), "x");
  await startSave({ saved, home, parts: [{ kind: "files", path: "other" }] }).answer;
  expect(generationsIn(saved)).toHaveLength(1);
  const found = restoreAnew(saved);
  expect(found).toMatchObject({
    point: null,
    notes: [expect.stringContaining('it holds "home/other"'), expect.stringContaining("fresh start")],
  });
});

test.concurrent("a state that cannot be read is not taken for none: the CLI is not started", async () => {
  const { saved, second } = await twoGenerations();
  const spec = stateSpec(join(second, "below-a-file"));
  const ended = await statePod(spec, "echo ran").start().ended;
  expect(ended.code).toBe(RUNNER_EXIT.noState);
  expect(ended.stdout.length).toBe(0);
  expect(ended.end).toMatchObject({ cause: "spawn-failed", exitCode: RUNNER_EXIT.noState, state: { saved: false } });
  expect(ended.end?.error).toContain("cannot be restored: ENOTDIR");
  expect(turns(restoreAnew(saved).home)).toBe("two\n");
});
