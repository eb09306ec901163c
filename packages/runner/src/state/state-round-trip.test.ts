import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type MetaRecord, RUNNER_EXIT } from "../records.ts";
import { cleanUp, preparePod, shell, waitFor } from "../testing/runner-fixture.ts";
import { cleanUpFolders, FILES, generationsIn, makeFolder, restoreAnew, statePod, stateSpec } from "./testing/state-fixture.ts";

afterAll(() => {
  cleanUp();
  cleanUpFolders();
});

const restoredIn = (meta: readonly MetaRecord[]) => meta.find((record) => record.type === "state" && record.act === "restored");

describe.concurrent("state from one run to the next", () => {
  test("is what the last CLI left, and each end record says so", async () => {
    const saved = join(makeFolder(), "agent", "task");
    const first = await statePod(stateSpec(saved), "echo one >> data/files/turns; printf x > data/some.db; exit 3").start().ended;
    expect(first.code).toBe(3);
    expect(restoredIn(first.meta)).toMatchObject({ point: null });
    expect(first.end?.state).toMatchObject({ restored: null, saved: true, error: null, last: { bytes: 5, version: null } });
    expect(first.message.state).toEqual(first.end?.state);
    const second = await statePod(stateSpec(saved), "echo two >> data/files/turns; cat data/files/turns data/some.db").start().ended;
    expect(second.stdout.toString()).toBe("one\ntwo\nx");
    expect(second.end?.state?.restored).toEqual(first.end?.state?.last);
    expect(second.end?.state?.last?.generation).not.toBe(first.end?.state?.last?.generation);
    await statePod(stateSpec(saved), "echo three >> data/files/turns").start().ended;
    expect(readFileSync(join(restoreAnew(saved).home, "data/files/turns"), "utf8")).toBe("one\ntwo\nthree\n");
    const listed = execFileSync("tar", ["tf", join(saved, second.end?.state?.last?.generation ?? "")]).toString();
    expect(listed).toBe("home/data/some.db\nhome/data/files/\nhome/data/files/turns\nmanifest\n");
    // The one that stands and the one before it.
    expect(generationsIn(saved)).toHaveLength(2);
    expect(readdirSync(saved)).toHaveLength(3);
  });

  test("keeps modes, times, empty folders and long names; links and pipes stay behind", async () => {
    const saved = makeFolder();
    const spec = stateSpec(saved);
    const files = join(spec.home, "data/files");
    const long = `deep/${"n".repeat(120)}/${"ü".repeat(60)}`;
    mkdirSync(join(files, long, ".."), { recursive: true });
    mkdirSync(join(files, "empty"), { mode: 0o750 });
    writeFileSync(join(files, long), "far down");
    writeFileSync(join(files, "tool"), "#!", { mode: 0o755 });
    chmodSync(join(files, "tool"), 0o711);
    symlinkSync("/etc", join(files, "etc"));
    const ended = await statePod(spec, "mkfifo data/files/pipe").start().ended;
    expect(ended.end?.state).toMatchObject({ saved: true });
    expect(JSON.stringify(ended.meta)).toContain("2 links or special files");
    const { home } = restoreAnew(saved);
    expect(readFileSync(join(home, "data/files", long), "utf8")).toBe("far down");
    const tool = lstatSync(join(home, "data/files/tool"));
    expect(tool.mode & 0o777).toBe(0o711);
    expect(Math.abs(tool.mtimeMs - lstatSync(join(files, "tool")).mtimeMs)).toBeLessThan(2);
    expect(lstatSync(join(home, "data/files/empty")).mode & 0o777).toBe(0o750);
    expect(readdirSync(join(home, "data/files")).sort()).toEqual(["deep", "empty", "tool"]);
  });

  test("a part behind a link is left alone, at the save and at the restore", async () => {
    const saved = makeFolder();
    await statePod(stateSpec(saved), "echo one > data/files/turns").start().ended;
    const spec = stateSpec(saved);
    const outside = makeFolder();
    symlinkSync(outside, join(spec.home, "data"));
    const ended = await preparePod({ argv: shell("true"), spec: { state: spec } }).start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.noState);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("that nobody touched is not saved again", async () => {
    const saved = makeFolder();
    await statePod(stateSpec(saved), "echo one > data/files/turns; sleep 0.2").start().ended;
    const before = readdirSync(saved);
    const ended = await statePod(stateSpec(saved), "cat data/files/turns").start().ended;
    expect(ended.end?.state).toMatchObject({ saved: true, error: null });
    expect(ended.end?.state?.last).toEqual(ended.end?.state?.restored);
    expect(readdirSync(saved)).toEqual(before);
  });

  test("a state larger than allowed is not saved, the one before stands", async () => {
    const saved = makeFolder();
    const first = await statePod(stateSpec(saved), "echo one > data/files/turns").start().ended;
    const ended = await statePod(stateSpec(saved, { maxBytes: 1000 }), "head -c 2000 /dev/zero > data/files/turns; exit 4").start().ended;
    expect(ended.code).toBe(4);
    expect(ended.end?.state).toMatchObject({
      saved: false,
      error: expect.stringContaining(
        "cannot save the state: the state has 2000 bytes, 1000 are allowed. To begin anew without it, remove /",
      ),
    });
    expect(ended.end?.state?.last).toEqual(first.end?.state?.last);
    expect(restoreAnew(saved).point).toEqual(first.end?.state?.last);
  });
});

describe.concurrent("the version beside it", () => {
  test("is a text or the output of a command, and is given at the next restore", async () => {
    const saved = makeFolder();
    await statePod(stateSpec(saved, { version: "1.2.3" }), "echo one > data/files/turns").start().ended;
    const command = ["/bin/sh", "-c", "echo $WHO 4.5; echo more"] as const;
    const pod = statePod(stateSpec(saved, { version: command }), "echo two >> data/files/turns", { spec: { env: { WHO: "cli" } } });
    const second = await pod.start().ended;
    expect(second.end?.state).toMatchObject({ restored: { version: "1.2.3" }, last: { version: "cli 4.5" } });
    const third = await statePod(stateSpec(saved, { version: ["no-such-program"] }), "echo 3 >> data/files/turns").start().ended;
    expect(third.end?.state).toMatchObject({ saved: true, last: { version: null } });
  });
});

describe.concurrent("however the CLI ends", () => {
  test("the time limit", async () => {
    const saved = makeFolder();
    const pod = statePod(stateSpec(saved), "echo one > data/files/turns; exec sleep 600", { spec: { timeoutSec: 0.7 } });
    expect((await pod.start().ended).end).toMatchObject({ cause: "timeout", state: { saved: true } });
    expect(readFileSync(join(restoreAnew(saved).home, "data/files/turns"), "utf8")).toBe("one\n");
  });

  test("a stop from outside, with a CLI that needs SIGKILL", async () => {
    const saved = makeFolder();
    const pod = statePod(stateSpec(saved), "trap '' TERM; echo one > data/files/turns; echo up; while :; do sleep 600; done", {
      spec: { stopGraceSec: 0.5 },
    });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the CLI");
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.end).toMatchObject({ cause: "stopped", signal: "SIGKILL", state: { saved: true, error: null } });
    expect(restoreAnew(saved).point).toEqual(ended.end?.state?.last);
  });

  test("a CLI that cannot be started leaves the state as it was", async () => {
    const saved = makeFolder();
    const first = await statePod(stateSpec(saved), "echo one > data/files/turns").start().ended;
    const ended = await preparePod({ argv: ["no-such-program"], spec: { state: stateSpec(saved) } }).start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.notFound);
    expect(ended.end?.state).toMatchObject({ saved: true, last: first.end?.state?.last });
  });

  test("a second pod of the run neither restores nor saves", async () => {
    const saved = makeFolder();
    const spec = stateSpec(saved);
    const pod = statePod(spec, "echo one > data/files/turns");
    await pod.start().ended;
    const before = readdirSync(saved);
    rmSync(join(spec.home, "data"), { recursive: true });
    expect((await pod.start().ended).code).toBe(RUNNER_EXIT.alreadyStarted);
    expect(readdirSync(saved)).toEqual(before);
  });
});

test.concurrent.each([["../out"], ["/etc"], ["a//b"], ["."], ["a/../b"], [""]])("the path %j of a part is refused", async (path) => {
  const state = stateSpec(makeFolder(), { parts: [{ ...FILES, path }] });
  const ended = await statePod(state, "echo ran > data/ran").start().ended;
  expect(ended.code).toBe(RUNNER_EXIT.badSpec);
  expect(ended.message.error).toContain("state.parts");
  expect(existsSync(join(state.home, "data"))).toBe(false);
});
