import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { signalGroup } from "../cli/process-group.ts";
import type { MetaRecord, StatePoint, StateSpec } from "../records.ts";
import { cleanUp, node, type Options, type Pod, preparePod, sleep, waitFor } from "../testing/runner-fixture.ts";
import { checkDatabase, writerScript } from "./testing/database-writer.ts";
import {
  cleanUpFolders,
  DATABASE,
  FILES,
  generationsIn,
  killPod,
  makeFolder,
  restoreAnew,
  startSave,
  stateSpec,
} from "./testing/state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

function writerPod(state: StateSpec, count: number, bytes: number, pauseMs: number, options: Partial<Options> = {}): Pod {
  mkdirSync(join(state.home, "data/files"), { recursive: true });
  const argv = node(writerScript, join(state.home, DATABASE.path), `${count}`, `${bytes}`, `${pauseMs}`);
  return preparePod({ argv, ...options, spec: { ...options.spec, state } });
}

const wordsOf = (pod: Pod): string => readFileSync(pod.spec.files.output, "utf8");
const recordsOf = (pod: Pod): MetaRecord[] =>
  readFileSync(pod.spec.files.meta, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as MetaRecord);
const notesOf = (pod: Pod): string[] => recordsOf(pod).flatMap((record) => (record.type === "note" ? [record.text] : []));
const savedPoints = (pod: Pod): StatePoint[] =>
  recordsOf(pod).flatMap((record) => (record.type === "state" && record.act === "saved" && record.point ? [record.point] : []));

const databaseIn = (home: string) => checkDatabase(join(home, DATABASE.path));

const SAVES = process.env.LONG ? 4 : 2;

describe.concurrent("a database", () => {
  test("killed hard, with its last turns only in the log: all of them are there in the next run", async () => {
    const saved = makeFolder();
    const pod = writerPod(stateSpec(saved), 1e9, 500, 1);
    const running = pod.start();
    await waitFor(() => wordsOf(pod).includes("at 300\n"), "a hundred turns");
    const started = recordsOf(pod).find((record) => record.type === "cli-started");
    signalGroup(started?.pid ?? 0, "SIGKILL");
    expect((await running.ended).end).toMatchObject({ signal: "SIGKILL", state: { saved: true } });
    const left = databaseIn(pod.spec.state?.home ?? "");
    expect(left).toMatchObject({ integrity: "ok", tornTurns: 0 });
    const found = databaseIn(restoreAnew(saved).home);
    expect(found.messages).toBeGreaterThanOrEqual(300);
    expect(found).toEqual(left);
  });

  test("saved at intervals under a busy writer: every copy is whole", async () => {
    const saved = makeFolder();
    const pod = writerPod(stateSpec(saved, { intervalSec: 0.2 }), 1e9, 2_000, 2);
    const running = pod.start();
    const counts: number[] = [];
    for (let wanted = 1; wanted <= SAVES; wanted++) {
      await waitFor(() => savedPoints(pod).length >= wanted, `save ${wanted}`);
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
  });

  test("a pod that is gone without a word: the state stands at its last save, and the meta file says which", async () => {
    const saved = makeFolder();
    const pod = writerPod(stateSpec(saved, { intervalSec: 0.3 }), 1e9, 500, 5);
    const running = pod.start();
    await waitFor(() => savedPoints(pod).length >= 1, "a save");
    const ended = await killPod(pod, running);
    expect(ended.end).toBeUndefined();
    const { point, home } = restoreAnew(saved);
    expect(
      savedPoints(pod)
        .at(-1)
        ?.at.localeCompare(point?.at ?? ""),
    ).toBeLessThanOrEqual(0);
    expect(databaseIn(home)).toMatchObject({ integrity: "ok", tornTurns: 0 });
    const next = await writerPod(stateSpec(saved), 0, 500, 0).start().ended;
    expect(next.end?.state?.restored).toEqual(point);
  });
});

test.concurrent("a runtime without SQLite saves at the end only, and says so once", async () => {
  const saved = makeFolder();
  const env = { NODE_OPTIONS: "--no-experimental-sqlite" };
  const state = stateSpec(saved, { intervalSec: 0.1 });
  const pod = writerPod(state, 1e9, 500, 5, { env, spec: { env: { NODE_OPTIONS: "" } } });
  const running = pod.start();
  await waitFor(() => notesOf(pod).length > 0 && wordsOf(pod) !== "", "the note");
  running.process.kill("SIGTERM");
  const ended = await running.ended;
  expect(notesOf(pod)).toEqual(["the state is saved only at the end: this runtime cannot copy a database in use"]);
  expect(savedPoints(pod)).toEqual([]);
  expect(ended.end?.state).toMatchObject({ saved: true, error: null });
  const found = databaseIn(restoreAnew(saved).home);
  expect(found).toMatchObject({ integrity: "ok", tornTurns: 0 });
  expect(found).toEqual(databaseIn(state.home));
});

test.concurrent("nothing changed since the last save: nothing is written", async () => {
  const saved = makeFolder();
  const state = stateSpec(saved, { intervalSec: 0.2, parts: [FILES] });
  mkdirSync(join(state.home, "data/files"), { recursive: true });
  const pod = preparePod({
    argv: ["/bin/sh", "-c", `echo one > '${state.home}/data/files/turns'; while [ ! -e go ]; do sleep 0.05; done`],
    spec: { state },
  });
  const running = pod.start();
  await waitFor(() => savedPoints(pod).length > 0, "a save");
  // Room for a few more saves.
  await sleep(1_200);
  writeFileSync(join(pod.folder, "go"), "");
  const ended = await running.ended;
  // One more is possible when the first save came within the clock's own doubt.
  expect([1, 2]).toContain(savedPoints(pod).length);
  expect(ended.end?.state).toMatchObject({ saved: true, last: savedPoints(pod).at(-1) });
});

test.concurrent("a database of a long session comes back whole", async () => {
  const saved = makeFolder();
  const messages = process.env.LONG ? 3_000 : 300;
  await writerPod(stateSpec(saved), messages, 20_000, 0).start().ended;
  const again = await writerPod(stateSpec(saved), 0, 20_000, 0).start().ended;
  expect(again.end?.state?.restored?.bytes).toBeGreaterThan(messages * 20_000);
  expect(databaseIn(restoreAnew(saved).home)).toMatchObject({ integrity: "ok", tornTurns: 0, messages: messages + 3 });
});

test.concurrent("a database that is still written to after the CLI's end is copied by SQLite", async () => {
  const saved = makeFolder();
  const state = stateSpec(saved);
  const pod = writerPod(state, 1e9, 200, 0);
  const running = pod.start();
  await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the writer");
  // As if the writer had left the CLI's process group: `live: false` while it goes on.
  for (let round = 0; round < SAVES; round++) {
    expect(await startSave({ saved, home: state.home }).answer).toMatchObject({ kind: "saved" });
    expect(databaseIn(restoreAnew(saved).home)).toMatchObject({ integrity: "ok", tornTurns: 0 });
  }
  running.process.kill("SIGTERM");
  await running.ended;
});
