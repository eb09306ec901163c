import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import type { StatePoint, StateRecord, StateSpec } from "../records.ts";
import { cleanUp, node, type Options, type Pod, preparePod, waitFor } from "../runner-fixture.ts";
import { checkDatabase, writerScript } from "./database-writer.ts";
import { cleanUpFolders, DATABASE, FILES, generationsIn, killPod, makeFolder, restoreAnew, startSave, stateSpec } from "./state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

const binary = fileURLToPath(new URL(`../../../../node_modules/.bin/${["open", "code"].join("")}`, import.meta.url));
const runtimes: Array<[string, Partial<Options>]> = [["Node", {}]];
if (existsSync(binary)) runtimes.push(["Bun", { runtime: binary, env: { BUN_BE_BUN: "1" } }]);

function writerPod(state: StateSpec, count: number, bytes: number, pauseMs: number, options: Partial<Options> = {}): Pod {
  mkdirSync(join(state.home, "data/files"), { recursive: true });
  const argv = node(writerScript, join(state.home, DATABASE.path), `${count}`, `${bytes}`, `${pauseMs}`);
  return preparePod({ argv, ...options, spec: { stopGraceSec: 5, drainSec: 15, ...options.spec, state } });
}

const savedPoints = (pod: Pod): StatePoint[] =>
  readFileSync(pod.spec.files.meta, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as StateRecord)
    .flatMap((record) => (record.type === "state" && record.act === "saved" && record.point ? [record.point] : []));

const databaseIn = (home: string) => checkDatabase(join(home, DATABASE.path));

describe.each(runtimes)("a database under %s", (_, runtime) => {
  test("killed hard, with its last turns only in the log: all of them are there in the next run", { timeout: 60_000 }, async () => {
    const saved = makeFolder();
    const pod = writerPod(stateSpec(saved), 1e9, 500, 1, { ...runtime, spec: { timeoutSec: 1.5, graceSec: 0 } });
    const ended = await pod.start().ended;
    expect(ended.end).toMatchObject({ cause: "timeout", state: { saved: true } });
    const left = databaseIn(pod.spec.state?.home ?? "");
    expect(left).toMatchObject({ integrity: "ok", tornTurns: 0 });
    const found = databaseIn(restoreAnew(saved).home);
    expect(found.messages).toBeGreaterThan(0);
    expect(found).toEqual(left);
  });

  test("saved at intervals under a busy writer: every copy is whole, and the writer hardly waits", { timeout: 90_000 }, async () => {
    const saved = makeFolder();
    const pod = writerPod(stateSpec(saved, { intervalSec: 0.2 }), 1e9, 2_000, 2, runtime);
    const running = pod.start();
    const counts: number[] = [];
    for (let wanted = 1; wanted <= 4; wanted++) {
      await waitFor(() => savedPoints(pod).length >= wanted, `save ${wanted}`, 40_000);
      const { home, point } = restoreAnew(saved);
      const copy = databaseIn(home);
      expect(copy, JSON.stringify(point)).toMatchObject({ integrity: "ok", tornTurns: 0 });
      counts.push(copy.messages);
    }
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.end).toMatchObject({ cause: "stopped", state: { saved: true, error: null } });
    expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0);
    expect(ended.meta.filter((record) => record.type === "note")).toEqual([]);
    expect(databaseIn(restoreAnew(saved).home)).toEqual(databaseIn(pod.spec.state?.home ?? ""));
    expect(readdirSync(pod.spec.state?.home ?? "")).toEqual(["data"]);
    expect(generationsIn(saved)).toHaveLength(2);
    if (process.env.SHOW_FIGURES) console.log(`longest transaction beside saves: ${ended.stdout.toString().match(/worst (\d+)/)?.[1]} ms`);
  });

  test("a pod that is gone without a word: the state stands at its last save, and the meta file says which", {
    timeout: 60_000,
  }, async () => {
    const saved = makeFolder();
    const pod = writerPod(stateSpec(saved, { intervalSec: 0.3 }), 1e9, 500, 5, runtime);
    const running = pod.start();
    await waitFor(() => savedPoints(pod).length >= 1, "a save", 30_000);
    const ended = await killPod(pod, running);
    expect(ended.end).toBeUndefined();
    const { point, home } = restoreAnew(saved);
    expect(
      savedPoints(pod)
        .at(-1)
        ?.at.localeCompare(point?.at ?? ""),
    ).toBeLessThanOrEqual(0);
    expect(databaseIn(home)).toMatchObject({ integrity: "ok", tornTurns: 0 });
    const next = await writerPod(stateSpec(saved), 0, 500, 0, runtime).start().ended;
    expect(next.end?.state?.restored).toEqual(point);
  });
});

test("a runtime without SQLite saves at the end only, and says so once", { timeout: 60_000 }, async () => {
  const saved = makeFolder();
  const env = { NODE_OPTIONS: "--no-experimental-sqlite" };
  const pod = writerPod(stateSpec(saved, { intervalSec: 0.1 }), 600, 500, 5, { env, spec: { env: { NODE_OPTIONS: "" } } });
  const ended = await pod.start().ended;
  const notes = ended.meta.filter((record) => record.type === "note").map((record) => record.text);
  expect(notes).toEqual(["the state is saved only at the end: this runtime cannot copy a database in use"]);
  expect(savedPoints(pod)).toEqual([]);
  expect(ended.end?.state).toMatchObject({ saved: true, error: null });
  expect(databaseIn(restoreAnew(saved).home)).toMatchObject({ integrity: "ok", messages: 600 });
});

test("nothing changed since the last save: nothing is written", { timeout: 60_000 }, async () => {
  const saved = makeFolder();
  const state = stateSpec(saved, { intervalSec: 0.2, parts: [FILES] });
  mkdirSync(join(state.home, "data/files"), { recursive: true });
  const pod = preparePod({
    argv: ["/bin/sh", "-c", `echo one > '${state.home}/data/files/turns'; sleep 3`],
    spec: { drainSec: 15, state },
  });
  const ended = await pod.start().ended;
  // One more is possible when the first save came within the clock's own doubt.
  expect(savedPoints(pod).length).toBeGreaterThan(0);
  expect(savedPoints(pod).length).toBeLessThan(3);
  expect(ended.end?.state).toMatchObject({ saved: true, last: savedPoints(pod).at(-1) });
});

test("20 MB as of a long session: time to save and to restore", { timeout: 60_000 }, async () => {
  const saved = makeFolder();
  const written = await writerPod(stateSpec(saved), 3_000, 7_000, 0).start().ended;
  const again = await writerPod(stateSpec(saved), 0, 7_000, 0).start().ended;
  expect(again.end?.state?.restored?.bytes).toBeGreaterThan(20e6);
  expect(databaseIn(restoreAnew(saved).home)).toMatchObject({ integrity: "ok", messages: 3_003 });
  const { saveMs } = written.end?.state ?? { saveMs: Number.NaN };
  const { restoreMs } = again.end?.state ?? { restoreMs: Number.NaN };
  if (process.env.SHOW_FIGURES)
    console.log(`${again.end?.state?.restored?.bytes} bytes: saved in ${saveMs} ms, restored in ${restoreMs} ms`);
  expect(saveMs + restoreMs).toBeLessThan(10_000);
});

test("a database that is still written to after the CLI's end is copied by SQLite", { timeout: 60_000 }, async () => {
  const saved = makeFolder();
  const state = stateSpec(saved);
  const pod = writerPod(state, 1e9, 200, 0);
  const running = pod.start();
  await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the writer", 20_000);
  // As if the writer had left the CLI's process group: `live: false` while it goes on.
  for (let round = 0; round < 5; round++) {
    expect(await startSave({ saved, home: state.home }).answer).toMatchObject({ kind: "saved" });
    expect(databaseIn(restoreAnew(saved).home)).toMatchObject({ integrity: "ok", tornTurns: 0 });
  }
  running.process.kill("SIGTERM");
  await running.ended;
});
