import { expect, test } from "vitest";
import { DEFAULT_POLICY } from "../../policy/policy.ts";
import { parseConfig } from "../../settings/parse.ts";
import { exampleCli } from "../../testing/example-cli.ts";
import { hostContext } from "../../testing/host-context.ts";
import { workingFolder } from "./workspace.ts";

const HOME = "/paperclip/instances/default/workspaces/agent-1";

function folder(workspace: object | null, cwd?: string, mount: "scoped" | "whole" = "scoped"): string {
  const context = workspace === null ? {} : { paperclipWorkspace: workspace };
  const { ctx } = hostContext({ agent: "agent-1", context });
  const config = parseConfig({ dataPath: "/paperclip", ...(cwd === undefined ? {} : { cwd }) }, {}, exampleCli);
  return workingFolder({ ctx, config, policy: { ...DEFAULT_POLICY, volume: { mount, paths: [] } } });
}

test.each([
  ["a project's workspace", { cwd: "/paperclip/acme", source: "project_primary" }, undefined, "/paperclip/acme"],
  ["a project's workspace, also against cwd", { cwd: "/paperclip/acme", source: "project_primary" }, "/paperclip/mine", "/paperclip/acme"],
  ["a task's own workspace, also against cwd", { cwd: "/paperclip/task", source: "task_session" }, "/paperclip/mine", "/paperclip/task"],
  ["cwd, against the agent's home", { cwd: HOME, source: "agent_home" }, "/paperclip/mine", "/paperclip/mine"],
  ["the agent's home, without cwd", { cwd: "/paperclip/home", source: "agent_home" }, undefined, "/paperclip/home"],
  ["cwd, without a workspace", null, "/paperclip/mine", "/paperclip/mine"],
  ["the agent's own folder, without both", null, undefined, HOME],
  ["no workspace that is no absolute path", { cwd: "acme", source: "project_primary" }, "/paperclip/mine", "/paperclip/mine"],
])("the CLI works in: %s", (_, workspace, cwd, expected) => {
  expect(folder(workspace, cwd)).toBe(expected);
});

test("a pod with the whole volume goes on where earlier versions ran it", () => {
  expect(folder(null, undefined, "whole")).toBe("/paperclip");
});
