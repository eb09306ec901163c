import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { cliNames, loadKits } from "../../../packages/adapters.ts";
import { settingsOf } from "../../../packages/paperclip/src/built-in/translate.ts";
import { commonFields } from "../../../packages/paperclip/src/settings/schema.ts";
import { PACKAGES } from "../src/cluster/image.ts";
import { openClusterStage } from "../src/cluster/stage.ts";
import { ARTEFACTS } from "../src/page/pictures.ts";
import { VERSIONS } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { type AnyStage, openStage } from "../src/stage.ts";
import { HOSTS, LONG } from "./breadth.ts";
import { builtInKeys } from "./in-place/built-in-keys.ts";
import { Switch, tableOf } from "./in-place/switch.ts";

// Agents of the built-in types, made before our packages are there: install, pause, resume, remove. What was seen is left in artefacts/in-place-<version>-<cluster>.md.

const kits = await loadKits();

test.each(VERSIONS.flatMap((version) => cliNames.map((cli) => [version, cli] as const)))(
  "%s: every setting that the host's own adapter for %s reads has its row, or is one of ours",
  async (version, cli) => {
    const { builtIn } = kits[cli].cli;
    const keys = await builtInKeys(version, cli);
    expect(keys).toEqual(expect.arrayContaining(["cwd", "model", "env", "extraArgs", "timeoutSec"]));
    const rows = new Set(builtIn === undefined ? [] : settingsOf(builtIn).map(({ key }) => key));
    expect(keys.filter((key) => !rows.has(key) && !ours.has(key))).toEqual([]);
  },
);
const ours = new Set(Object.values(commonFields).flatMap(({ key, aliases }) => [key, ...aliases]));

/** The real cluster takes its time to get a server with CLIs: with LONG. It comes first, since it needs root, which the embedded one gives up. */
const CLUSTERS = LONG ? (["real", "embedded"] as const) : (["embedded"] as const);

describe.each(CLUSTERS.flatMap((cluster) => HOSTS.map((version) => [version, cluster] as const)))(
  "Paperclip %s, %s cluster",
  (version, cluster) => {
    const table = join(ARTEFACTS, `in-place-${version}-${cluster}.md`);
    const packed = inject("packed");
    let stage: AnyStage;
    let packages: readonly string[];
    beforeAll(async () => {
      rmSync(table, { force: true });
      const options = { version, builtIn: true, say: (line: string) => console.log(line) };
      if (cluster === "real") stage = await openClusterStage(packed, { ...options, serverHasClis: true });
      else {
        dropRoot();
        stage = await openStage(packed, options);
      }
      packages = packed.inPlace.map((name) => join(cluster === "real" ? PACKAGES : packed.folder, name));
    });
    afterAll(() => stage?.stop());

    test.each([
      ["claude", "the CLI engine", { engine: "cli" }],
      ["claude", "the host's default engine", {}],
      ["opencode", "the CLI", {}],
    ] as const)(
      "%s, %s: the same agent as a Job and inside the server, never failing for the other's session",
      async (cli, title, settings) => {
        const agent = new Switch(stage, packages, cli, cluster === "real" ? "server" : "agent");
        await agent.hire(settings);
        await agent.turn("before the installation");
        await agent.turn("again");
        await agent.install();
        expect(await agent.info()).toMatchObject({ source: "external", overriddenBuiltin: true, overridePaused: false });
        expect(await agent.turn("installed")).toMatchObject({ runBy: "Job", session: "kept", remembers: [1, 2] });
        expect(await agent.turn("again")).toMatchObject({ runBy: "Job", session: "kept", remembers: [1, 2, 3] });
        await agent.pause(true);
        expect(await agent.turn("paused")).toMatchObject({ runBy: "server" });
        await agent.pause(false);
        // Whatever the built-in adapter has made of the session: what it wrote last goes on.
        expect(await agent.turn("resumed")).toMatchObject({ runBy: "Job", session: "kept", remembers: expect.arrayContaining([5]) });
        await agent.remove();
        expect(await agent.turn("removed")).toMatchObject({ runBy: "server" });
        appendFileSync(table, `${tableOf(`${agent.type} on ${version}, ${cluster} cluster, ${title}`, agent.steps)}\n`);
        for (const { runBy, log } of agent.steps) if (runBy === "Job") expect(log).not.toMatch(/is not a setting|left out/);
      },
    );
  },
);
