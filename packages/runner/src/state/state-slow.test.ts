import { afterAll, describe, expect, test } from "vitest";
import { RUNNER_EXIT } from "../records.ts";
import { cleanUp } from "../testing/runner-fixture.ts";
import { mayMountFuse, mountSlow, unmountAll } from "./testing/slow-mount.ts";
import { cleanUpFolders, generationsIn, makeFolder, statePod, stateSpec } from "./testing/state-fixture.ts";

// A volume that gives its bytes slowly: bindfs with a limit.

afterAll(async () => {
  cleanUp();
  await unmountAll();
  cleanUpFolders();
});

/** Without root there is nothing to mount a volume with. */
describe.skipIf(!mayMountFuse()).concurrent("a slow volume", () => {
  const SIZE = 2_000_000;
  const saved = async (): Promise<string> => {
    const folder = makeFolder();
    const ended = await statePod(stateSpec(folder), `head -c ${SIZE} /dev/zero > data/files/turns`).start().ended;
    expect(ended.end?.state?.saved).toBe(true);
    return folder;
  };

  test("is waited for as long as it gives more", async () => {
    const { at: slow } = await mountSlow(await saved(), 200_000);
    const ended = await statePod(stateSpec(slow, { restoreSec: 8 }), "wc -c < data/files/turns").start().ended;
    expect(ended.stdout.toString().trim(), ended.end?.error ?? "").toBe(String(SIZE));
    expect(ended.end?.state?.restoreMs).toBeGreaterThan(8_000);
  });

  // Whether it is seen to have given anything is a matter of seconds.
  test.skipIf(!process.env.LONG)("that gives no more: what it gave, and what to do, is reported", async () => {
    const folder = await saved();
    // So slow that the next bytes do not come in time.
    const { at: slow } = await mountSlow(folder, 20_000);
    const attempt = () => statePod(stateSpec(slow, { restoreSec: 2 }), "echo ran").start().ended;
    let ended = await attempt();
    // A busy machine may need that long for the start alone.
    for (let more = 0; more < 3 && !ended.end?.error?.includes(" after "); more++) ended = await attempt();
    expect(ended.code).toBe(RUNNER_EXIT.noState);
    expect(ended.end?.error).toMatch(/gave no answer for 2 s after \d+ bytes\. To begin anew without it, remove \//);
    expect(ended.end?.error).toContain(slow);
    // Not started, nothing replaced.
    expect(generationsIn(folder)).toHaveLength(1);
  });
});
