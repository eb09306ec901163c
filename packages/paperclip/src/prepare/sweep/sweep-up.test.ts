import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_POLICY } from "../../policy/policy.ts";
import { parseConfig } from "../../settings/parse.ts";
import { exampleCli } from "../../testing/example-cli.ts";
import type { RunInputs } from "../attempt.ts";
import { sweepUp } from "./sweep-up.ts";

const LONG_AGO = new Date(0);

test("a run leaves its own session and bundle alone, removes what is old beside them, and hears of what stays", async () => {
  const data = mkdtempSync(join(tmpdir(), "sweep-up-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const states = join(data, "instances/default/data/agent-state/c/a/cli");
  const bundles = join(data, "instances/default/data/prompt-bundles/c");
  const old = [join(states, "own"), join(states, "other"), join(bundles, "old"), join(bundles, "deep")];
  for (const folder of [...old, join(bundles, "used"), join(bundles, "deep", Array(80).fill("d").join("/"))])
    mkdirSync(folder, { recursive: true });
  for (const folder of old) utimesSync(folder, LONG_AGO, LONG_AGO);
  const inputs = {
    ctx: { agent: { id: "a", companyId: "c" } },
    config: parseConfig({ namespace: "agents", dataPath: data }, {}, exampleCli),
    state: { mode: "portable", spec: { saved: join(states, "own") } },
    bundle: { folder: join(bundles, "used") },
    policy: DEFAULT_POLICY,
  } as unknown as RunInputs;
  const heard: string[] = [];
  await sweepUp(inputs, (trouble) => heard.push(trouble));
  expect(heard).toEqual([
    expect.stringMatching(/prompt-bundles\/c\/deep could not be cleaned up: .*\/prompt-bundles\/c\/\.part-.* is too deep/),
  ]);
  expect([...old, join(bundles, "used")].map((folder) => existsSync(folder))).toEqual([true, false, false, false, true]);
});
