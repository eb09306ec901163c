import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { DEFAULT_POLICY, type PolicyVolume } from "../../policy/policy.ts";
import { parseConfig } from "../../settings/parse.ts";
import { exampleCli } from "../../testing/example-cli.ts";
import { hostContext } from "../../testing/host-context.ts";
import { workingFolder } from "../environment/workspace.ts";
import { NO_SEEDS } from "../state/find-seeds.ts";
import { keptState } from "../state/kept-state.ts";
import { findScope, homeInPod } from "./scope.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "scope-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
});

function find(volume: Partial<PolicyVolume> = {}, mountPath = data, context = {}) {
  const { ctx } = hostContext({ agent: "agent-1", taskKey: "task-1", context });
  const config = parseConfig({ namespace: "agents", dataPath: mountPath }, {}, exampleCli);
  const policy = { ...DEFAULT_POLICY, volume: { ...DEFAULT_POLICY.volume, ...volume } };
  const state = keptState({ ctx, cli: exampleCli, config });
  const claim = { name: "data", mountPath, subPath: null };
  const cwd = workingFolder({ ctx, config, policy });
  return findScope({ ctx, config, policy, bundle: null, state, seeds: NO_SEEDS, cwd, inherited: { claim } });
}

const home = () => join(data, "instances/default/workspaces/agent-1");
const state = () => join(data, "instances/default/data/agent-state/company-1/agent-1/agent/task-1");
const skills = () => join(data, "instances/default/skills/company-1");

test("scoped unless the operator says otherwise: what is on the volume of what the run needs", async () => {
  mkdirSync(skills(), { recursive: true });
  expect(await find()).toEqual({
    mounts: [
      { path: home(), readOnly: false },
      { path: state(), readOnly: false },
      { path: skills(), readOnly: true },
    ],
    made: [home(), state()],
    warnings: [],
  });
});

test("the whole volume, as in earlier versions, if the policy allows it", async () => {
  expect(await find({ mount: "whole" })).toEqual({ mounts: null, made: [home(), state()], warnings: [] });
});

test("a workspace that is not on the volume is refused there too", async () => {
  const context = { paperclipWorkspace: { cwd: "/srv/repos/site", source: "project_primary" } };
  await expect(find({ mount: "whole" }, data, context)).rejects.toThrow(/^workspace: \/srv\/repos\/site is not on the shared volume/);
});

test("a link is refused by its name, in the place of a folder or on the way to it", async () => {
  mkdirSync(join(data, "real/company-1"), { recursive: true });
  mkdirSync(join(data, "instances/default"), { recursive: true });
  symlinkSync(join(data, "real"), join(data, "instances/default/skills"));
  await expect(find()).rejects.toThrow(`volume: ${join(data, "instances/default/skills")} is a link`);
});

test("the agent's home is the host's folder if the pod may write there, else the agent's own", () => {
  const mounts = [
    { path: "/data/own", readOnly: false },
    { path: "/data/skills", readOnly: true },
    { path: "/data/skills/mine", readOnly: false },
  ];
  const inPod = (given: string, whole = false) => homeInPod({ mounts: whole ? null : mounts }, "/data", given, "/data/own");
  for (const writable of ["/data/own/notes", "/data/skills/mine/home"]) expect(inPod(writable)).toBe(writable);
  for (const other of ["/data/skills/home", "/data/else", "/elsewhere", "/data/own/../else", "home"])
    expect(inPod(other)).toBe("/data/own");
  expect(inPod("/data/else", true)).toBe("/data/else");
  expect(inPod("/elsewhere", true)).toBe("/data/own");
});
