import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryLocks } from "@paperclip-k8s/engine";
import { expect, onTestFinished, test } from "vitest";
import { mountCached, whyNoCachedMount } from "./cached-mount.ts";

const unable = whyNoCachedMount();

test.skipIf(unable !== null)(
  `SQLite's locks are tried on a mount, also on one that hangs${unable === null ? "" : ` (${unable})`}`,
  async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "hung-locks-")));
    const seen = join(folder, "seen");
    await mkdir(join(folder, "real"));
    const mount = await mountCached(join(folder, "real"), seen, 0);
    onTestFinished(async () => {
      mount.thaw();
      await mount.unmount();
      await rm(folder, { recursive: true, force: true });
    });
    expect(await tryLocks(seen, join(seen, "own"))).toEqual({ kind: "work", reason: "" });
    mount.freeze();
    expect(await tryLocks(seen, join(seen, "own"), 2000)).toMatchObject({
      kind: "broken",
      reason: expect.stringContaining("not answered"),
    });
  },
);
