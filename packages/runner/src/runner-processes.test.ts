import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runnerText } from "../generated/text.ts";
import { RUNNER_EXIT } from "./records.ts";
import { FIRST, relaySpec } from "./relay/testing/relay-fixture.ts";
import { mayMountFuse, mountSlow, unmountAll } from "./state/testing/slow-mount.ts";
import { cleanUpFolders, makeFolder, statePod, stateSpec } from "./state/testing/state-fixture.ts";
import { canHaveNamespace, cleanUp, preparePod, processesWith, runPod, shell, sleep, waitFor } from "./testing/runner-fixture.ts";

// In a pod there is the runner and the CLI. Where the runner could not end with a file call that hangs, it has processes for files.

afterAll(async () => {
  cleanUp();
  await unmountAll();
  cleanUpFolders();
});

/** Writes down every Node that the runner starts, itself included. */
const COUNT = `require("node:fs").appendFileSync(process.env.STARTED, process.argv[2].replace(/.*\\//, "") + "\\n")`;
const counting = () => {
  const started = join(makeFolder(), "started");
  return { files: { "count.cjs": COUNT }, env: { STARTED: started, NODE_OPTIONS: "--require=./in/count.cjs" } };
};

describe.concurrent("before the CLI runs", () => {
  const seeds = (): { from: string; home: string; files: { path: string }[]; maxBytes: number } => {
    const from = makeFolder();
    writeFileSync(join(from, ".gitconfig"), "[user]");
    return { from, home: makeFolder(), files: [{ path: ".gitconfig" }], maxBytes: 1000 };
  };

  test("one Node is started, for the lock, the seeds and a saved state too", async () => {
    const state = stateSpec(makeFolder());
    await statePod(state, "echo one > data/files/turns").start().ended;
    const seed = seeds();
    const pod = statePod(stateSpec(state.saved), 'cat "$STARTED" data/files/turns', { ...counting(), spec: { seed } });
    const ended = await pod.start().ended;
    expect(ended.stdout.toString()).toBe("termination-log\none\n");
    expect(readFileSync(join(seed.home, ".gitconfig"), "utf8")).toBe("[user]");
    expect(ended.end?.state).toMatchObject({ restored: { bytes: 4 }, saved: true });
  });

  test("a large state is restored by a process", async () => {
    const state = stateSpec(makeFolder());
    await statePod(state, "head -c 5000000 /dev/zero > data/files/turns").start().ended;
    const pod = statePod(stateSpec(state.saved), 'cat "$STARTED"; wc -c < data/files/turns', counting());
    const ended = await pod.start().ended;
    expect(ended.stdout.toString().split(/\s+/)).toEqual(["termination-log", "--task", "5000000", ""]);
  });

  test("on an older Node a process writes the files, and one does each piece of work", async () => {
    const state = stateSpec(makeFolder());
    await statePod(state, "echo one > data/files/turns").start().ended;
    const options = { ...counting(), ownProcesses: true, spec: { seed: seeds() } };
    const ended = await statePod(stateSpec(state.saved), 'cat "$STARTED" data/files/turns', options).start().ended;
    const lines = ended.stdout.toString().trim().split("\n");
    expect(lines.sort()).toEqual(["--task", "--task", "--writer", "one", "termination-log"]);
    expect(ended.end).toMatchObject({ exitCode: 0, bytes: ended.end?.written });
  });
});

test("HTTP is loaded for a request only, and nothing by Node's loader of modules", async () => {
  const loaded = join(makeFolder(), "loaded");
  const look = `process.on("exit", () => require("node:fs").writeFileSync(process.env.LOADED, process.moduleLoadList.join("\\n")))`;
  const files = { "look.cjs": look, "credentials.json": JSON.stringify(FIRST) };
  const env = { LOADED: loaded, NODE_OPTIONS: "--require=./in/look.cjs" };
  const argv = shell('echo "$API_URL"');
  const ended = await runPod({ argv, files, env, spec: { relay: relaySpec("http://127.0.0.1:9"), env: { API_TOKEN: FIRST.token } } });
  expect(ended.stdout.toString()).toMatch(/^http:\/\/127\.0\.0\.1:(?!9\n)\d+\n$/);
  const modules = readFileSync(loaded, "utf8").split("\n");
  expect(modules).toContain("NativeModule net");
  expect(modules).not.toContain("NativeModule http");
  expect(runnerText).not.toContain("import(");
});

test("no second process holds the run's files while the CLI runs", async () => {
  const pod = preparePod({ argv: shell("echo up; exec sleep 600") });
  const running = pod.start();
  await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the CLI");
  expect(processesWith(pod.folder)).toEqual([running.process.pid]);
  running.process.kill("SIGTERM");
  expect((await running.ended).end).toMatchObject({ cause: "stopped" });
});

/** Waits until the volume has nothing left to do, however slow its disk is: a call that it has taken and not answered cannot be ended by anybody. */
async function hasNothingToDo(pid: number): Promise<void> {
  const states = (): string[] =>
    readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8").replace(/^.*\) (.).*$/s, "$1"));
  // Asleep is a thread that waits for a call; one that waits for the disk is not.
  for (let calm = 0; calm < 5; calm = states().every((state) => state === "S") ? calm + 1 : 0) await sleep(100);
}

describe.skipIf(!mayMountFuse()).concurrent("a volume that gives no answer any more", () => {
  test.for(canHaveNamespace() ? [true, false] : [false])(
    "the exit is the CLI's also with everything on it, as first process: %s",
    async (first) => {
      const folder = makeFolder();
      const { at, pid } = await mountSlow(folder);
      mkdirSync(join(at, "work"));
      const files = { output: join(at, "run.ndjson"), meta: join(at, "run.meta"), lock: join(at, "run.claim") };
      const go = join(makeFolder(), "go");
      const argv = shell(`while [ ! -e '${go}' ]; do sleep 0.05; done; echo lost; exit 7`);
      const running = preparePod({ argv, first, cwd: join(at, "work"), spec: { files, drainSec: 1 } }).start();
      const begun = (): boolean =>
        existsSync(join(folder, "run.meta")) && readFileSync(join(folder, "run.meta"), "utf8").includes("cli-started");
      await waitFor(begun, "the CLI");
      await sleep(1_500);
      await hasNothingToDo(pid);
      process.kill(pid, "SIGSTOP");
      writeFileSync(go, "");
      await new Promise((resolve) => running.process.on("exit", resolve));
      process.kill(pid, "SIGCONT");
      const ended = await running.ended;
      expect(ended.code).toBe(7);
      expect(ended.message).toMatchObject({ exitCode: 7, cause: "exit", bytes: 5, written: 0 });
    },
  );

  test("a lock file of another pod that is seen while seeds are waited for: the CLI is not started", async () => {
    const [folder, seedFolder] = [makeFolder(), makeFolder()];
    writeFileSync(join(folder, "run.claim"), "");
    writeFileSync(join(seedFolder, ".gitconfig"), "[user]");
    const [volume, seeds] = [await mountSlow(folder), await mountSlow(seedFolder)];
    const seed = { from: seeds.at, home: makeFolder(), files: [{ path: ".gitconfig" }], maxBytes: 1000 };
    const files = { output: join(volume.at, "run.ndjson"), meta: join(volume.at, "run.meta"), lock: join(volume.at, "run.claim") };
    for (const { pid } of [volume, seeds]) process.kill(pid, "SIGSTOP");
    const pod = preparePod({ argv: shell("echo x > ran"), spec: { files, seed, waits: { openMs: 100 } } });
    const running = pod.start();
    // Time for the runner to go on without the volume, and then to hear from it: with less it finds the lock file in another way.
    await sleep(2_000);
    process.kill(volume.pid, "SIGCONT");
    await sleep(500);
    process.kill(seeds.pid, "SIGCONT");
    expect((await running.ended).code).toBe(RUNNER_EXIT.alreadyStarted);
    expect(existsSync(join(pod.folder, "ran"))).toBe(false);
  });

  test("seeds on it: a stop is not held up, and nothing is taken later", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, ".gitconfig"), "[user]");
    const { at: from, pid } = await mountSlow(folder);
    process.kill(pid, "SIGSTOP");
    const home = makeFolder();
    const seed = { from, home, files: [{ path: ".gitconfig" }], maxBytes: 1000 };
    const pod = preparePod({ argv: shell("echo ran"), spec: { seed } });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.meta).length > 0, "the runner");
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    process.kill(pid, "SIGCONT");
    expect(ended.end).toMatchObject({ cause: "stopped", bytes: 0 });
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
    expect(existsSync(join(home, ".gitconfig"))).toBe(false);
  });
});

test("many small writes and records between them keep their order", async () => {
  const script = "i=0; while [ $i -lt 300 ]; do echo o-$i; echo e-$i >&2; i=$((i+1)); done";
  const pod = preparePod({ argv: shell(script) });
  const ended = await pod.start().ended;
  const lines = (letter: string) => Array.from({ length: 300 }, (_, index) => `${letter}-${index}\n`).join("");
  expect(readFileSync(pod.spec.files.output, "utf8")).toBe(lines("o"));
  expect(ended.meta.flatMap((record) => (record.type === "stderr" ? [record.text] : [])).join("")).toBe(lines("e"));
  expect(ended.end).toMatchObject({ lines: 300, bytes: ended.end?.written });
});
