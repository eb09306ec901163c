import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { RUNNER_EXIT } from "../records.ts";
import { cleanUp, processesWith, waitFor } from "../testing/runner-fixture.ts";
import { mayMountFuse, mountSlow, unmountAll } from "./testing/slow-mount.ts";
import { cleanUpFolders, generationsIn, makeFolder, restoreAnew, statePod, stateSpec } from "./testing/state-fixture.ts";

const mounts: string[] = [];
afterAll(async () => {
  cleanUp();
  await unmountAll();
  for (const mount of mounts) execFileSync("umount", ["--lazy", mount]);
  cleanUpFolders();
});

const mayMount = process.platform === "linux" && process.getuid?.() === 0;

function mountSmall(size: string): string {
  const folder = join(makeFolder(), "volume");
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  mounts.push(folder);
  return folder;
}

/** Without root there is nothing to mount a volume with. */
describe.skipIf(!mayMount).concurrent("a volume that refuses", () => {
  test("full: the error is reported, the exit code is the CLI's, the state before stands", async () => {
    const volume = mountSmall("1m");
    const saved = join(volume, "saved");
    const first = await statePod(stateSpec(saved), "echo one > data/files/turns").start().ended;
    const ended = await statePod(stateSpec(saved), "head -c 3000000 /dev/urandom > data/files/turns; exit 5").start().ended;
    expect(ended.code).toBe(5);
    expect(ended.end?.state).toMatchObject({ saved: false, last: first.end?.state?.last });
    expect(ended.end?.state?.error).toContain("cannot save the state: ENOSPC");
    expect(ended.message.state).toEqual(ended.end?.state);
    // What did not fit does not fill the volume either.
    expect(generationsIn(saved)).toHaveLength(1);
    expect(readdirSync(saved)).toHaveLength(2);
    expect(restoreAnew(saved).point).toEqual(first.end?.state?.last);
    const again = await statePod(stateSpec(saved), "echo two >> data/files/turns").start().ended;
    expect(again.end?.state).toMatchObject({ restored: first.end?.state?.last, saved: true });
  });

  test("read-only: restored as ever, not saved, and reported", async () => {
    const volume = mountSmall("4m");
    const saved = join(volume, "saved");
    const first = await statePod(stateSpec(saved), "echo one > data/files/turns").start().ended;
    execFileSync("mount", ["-o", "remount,ro", volume]);
    const ended = await statePod(stateSpec(saved), "cat data/files/turns; echo two >> data/files/turns; exit 6").start().ended;
    expect(ended.code).toBe(6);
    expect(ended.stdout.toString()).toBe("one\n");
    expect(ended.end?.state).toMatchObject({ restored: first.end?.state?.last, saved: false, last: first.end?.state?.last });
    expect(ended.end?.state?.error).toContain("EROFS");
    expect(restoreAnew(saved).point).toEqual(first.end?.state?.last);
    const fresh = await statePod(stateSpec(join(volume, "none")), "echo one > data/files/turns").start().ended;
    expect(fresh).toMatchObject({ code: 0, end: { state: { restored: null, saved: false, error: expect.stringContaining("EROFS") } } });
  });
});

describe.skipIf(!mayMountFuse()).concurrent("a volume that stalls", () => {
  test("at the save: the exit comes in time, with the CLI's code", async () => {
    const folder = makeFolder();
    const first = await statePod(stateSpec(folder), "echo one > data/files/turns").start().ended;
    const { at: saved, pid } = await mountSlow(folder);
    const pod = statePod(stateSpec(saved, { saveSec: 1 }), `echo two > data/files/turns; kill -STOP ${pid}; exit 7`);
    const ended = await pod.start().ended;
    expect(ended.code).toBe(7);
    expect(ended.end?.state).toMatchObject({ saved: false, last: first.end?.state?.last });
    expect(ended.end?.state?.error).toContain("did not take the state within");
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
    expect(restoreAnew(folder).point).toEqual(first.end?.state?.last);
  });

  test("a pod asked to stop does not wait longer than it may", async () => {
    const { at: saved, pid } = await mountSlow(makeFolder());
    const script = `echo two > data/files/turns; kill -STOP ${pid}; echo up; exec sleep 600`;
    const pod = statePod(stateSpec(saved, { saveSec: 600 }), script, { spec: { stopGraceSec: 1, drainSec: 2 } });
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.output).length > 0, "the CLI");
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.end?.state?.saved).toBe(false);
    expect(ended.message.state?.error).toContain("did not take the state");
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
  });

  test("at the restore: the CLI is not started, nothing is replaced", async () => {
    const { at: saved, pid } = await mountSlow(makeFolder());
    process.kill(pid, "SIGSTOP");
    const pod = statePod(stateSpec(saved, { restoreSec: 1 }), "echo ran");
    const ended = await pod.start().ended;
    expect(ended.code).toBe(RUNNER_EXIT.noState);
    expect(ended.end?.error).toContain(`gave no answer for 1 s. To begin anew without it, remove ${saved}`);
    expect(ended.stdout.length).toBe(0);
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
  });

  test("a stop that comes before the state is restored", async () => {
    const { at: saved, pid } = await mountSlow(makeFolder());
    process.kill(pid, "SIGSTOP");
    const pod = statePod(stateSpec(saved, { restoreSec: 600 }), "echo ran");
    const running = pod.start();
    await waitFor(() => readFileSync(pod.spec.files.meta).length > 0, "the runner");
    running.process.kill("SIGTERM");
    const ended = await running.ended;
    expect(ended.end).toMatchObject({ cause: "stopped", bytes: 0 });
    await waitFor(() => processesWith(pod.folder).length === 0, "the last process");
  });
});
