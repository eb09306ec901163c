import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, settingsFor, startBed } from "./bed.ts";
import { type CachedMount, mountCached, whyNoCachedMount } from "./cached-mount.ts";

// The server's PAPERCLIP_HOME is a disk of its own, and the folders that it shares with pods are mounts of another volume in it (docs/storage.md).

const unable = whyNoCachedMount();
let bed: Bed;
let home: string;
const mounts: CachedMount[] = [];
beforeAll(async () => {
  if (unable !== null) return;
  bed = await startBed();
  home = await realpath(await mkdtemp(join(tmpdir(), "two-volumes-")));
  const shared = await bed.addVolume("shared");
  for (const folder of ["workspaces", "data"].map((name) => `instances/default/${name}`)) {
    await mkdir(join(shared, folder), { recursive: true, mode: 0o777 });
    mounts.push(await mountCached(join(shared, folder), join(home, folder), 0));
  }
});
afterAll(async () => {
  for (const mount of mounts) await mount.unmount();
  await bed?.stop();
  if (home !== undefined) await rm(home, { recursive: true, force: true });
});

const WRITE = `require("node:fs").writeFileSync(process.env.AGENT_HOME + "/note", "hello"); console.log("written");`;

test.skipIf(unable !== null)(
  `a run shares only the folders of the second volume with its server${unable === null ? "" : ` (${unable})`}`,
  async () => {
    const own = join(home, "instances/default/workspaces/agent-1");
    const parser = {
      push: (text: string) => [{ kind: "other", text }] as const,
      report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
      fault: () => null,
    };
    const plan = () => ({ argv: ["node", "-e", WRITE] as const, plainEnv: {}, secretEnv: {}, notes: [] });
    const adapter = createAdapter(
      { ...exampleCli, state: undefined, plan, createParser: () => parser },
      { engine: createEngine(), serverEnv: { ...TEST_POLICY, PAPERCLIP_HOME: home } },
    );
    const { ctx, log } = hostContext({
      agent: "agent-1",
      config: { ...settingsFor(bed), dataPath: home, dataClaim: "shared" },
      context: { paperclipWorkspace: { source: "agent_home", cwd: own, agentHome: own } },
    });
    expect(await adapter.execute(ctx), log()).toMatchObject({ exitCode: 0 });
    expect(log()).toContain("written");
    expect(await readFile(join(own, "note"), "utf8")).toBe("hello");
  },
);
