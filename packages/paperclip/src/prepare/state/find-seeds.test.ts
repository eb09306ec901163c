import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { DEFAULT_POLICY, type Policy } from "../../policy/policy.ts";
import { parseConfig } from "../../settings/parse.ts";
import { exampleCli } from "../../testing/example-cli.ts";
import { findSeeds } from "./find-seeds.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "seeds-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  mkdirSync(join(data, ".ssh"));
  writeFileSync(join(data, ".gitconfig"), "[user]");
  writeFileSync(join(data, ".tool.json"), "{}");
});

const cli = { ...exampleCli, state: { ...exampleCli.state!, seeds: [{ path: ".tool.json", to: ".tool/.tool.json" }] } };

function find(policy: Partial<Policy> = {}, account: string | null = null) {
  const config = { ...parseConfig({ namespace: "agents", dataPath: data }, {}, cli), account };
  const claim = { name: "data", mountPath: data, subPath: null };
  return findSeeds({ cli, config, policy: { ...DEFAULT_POLICY, ...policy }, inherited: { claim } });
}

test("without the operator's word nothing is taken; what used to be is named once, with the line for the policy", async () => {
  const { spec, mounts, secrets, warnings } = await find();
  expect([spec, mounts, secrets]).toEqual([null, [], []]);
  expect(warnings).toEqual([expect.stringMatching(/^not copied .*\.tool\.json, .*\.gitconfig, .*\.ssh\. .*seeds: \{ folder: \/.*\}$/)]);
  expect((await find()).warnings).toEqual([]);
});

test("the operator's folder: what is there, each mounted by itself and read-only; links are not", async () => {
  symlinkSync("/etc/hostname", join(data, ".git-credentials"));
  const { spec, mounts, warnings } = await find({ seeds: { folder: data } });
  const files = [{ path: ".tool.json", to: ".tool/.tool.json" }, { path: ".gitconfig" }, { path: ".ssh" }];
  expect(spec).toMatchObject({ from: data, files });
  expect(mounts).toEqual(files.map(({ path }) => ({ path: join(data, path), readOnly: true })));
  expect(warnings).toEqual([expect.stringMatching(/\.git-credentials is not copied .* is a link$/)]);
});

test("beside an account of the host's the CLI's own logins and settings stay away, others' do not", async () => {
  const { spec } = await find({ seeds: { folder: data } }, "api_key");
  expect(spec?.files).toEqual([{ path: ".gitconfig" }, { path: ".ssh" }]);
});

test("a Secret: mounted beside the home, its keys are the files", async () => {
  const { spec, mounts, secrets } = await find({ seeds: { secret: "logins" } });
  expect(spec).toMatchObject({ from: "/agent/seeds", secret: "logins" });
  expect([mounts, secrets]).toEqual([[], [{ name: "logins", mountPath: "/agent/seeds", subPath: null, items: null, defaultMode: 0o444 }]]);
});

test("a folder that agents can write to is refused, with what to do", async () => {
  const whole = { mount: "whole", paths: [] } as const;
  await expect(find({ seeds: { folder: data }, volume: whole })).rejects.toThrow(/^seeds\.folder: .*whole volume: use seeds\.secret/);
  await expect(find({ seeds: { folder: "/elsewhere" } })).rejects.toThrow(/^seeds\.folder: \/elsewhere is not on the volume/);
  for (const name of [".ssh", ".ssh/keys", ".ssh/*"]) {
    const paths = [{ path: join(data, name), readOnly: false }];
    await expect(find({ seeds: { folder: data }, volume: { mount: "scoped", paths } })).rejects.toThrow(
      /^seeds\.folder: agents can write to/,
    );
  }
  const home = join(data, "instances/default/workspaces/agent-1");
  mkdirSync(join(home, ".ssh"), { recursive: true });
  await expect(find({ seeds: { folder: home } })).rejects.toThrow(/^seeds\.folder: agents can write to .*workspaces\/\*/);
});
