import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliNames } from "../../../../packages/adapters.ts";
import { inPlaceOf } from "../../../../packages/paperclip/src/built-in/in-place.ts";
import { type AgentRun, type Agents, openAgents } from "../agents.ts";
import { INSTANCE, put, viewFrom } from "./scope-stage.ts";

// What agents of the built-in types were promised about their safety: in the place of the built-in adapter it is kept or refused.

const OWN = `${INSTANCE}/projects/company-1/project-1/repo/code.ts`;
const OTHER = `${INSTANCE}/projects/company-1/project-2/repo/code.ts`;
const SIBLING = `${INSTANCE}/projects/company-1/project-1/repo/.paperclip/worktrees/ISSUE-1/code.ts`;
const SHARED = "shared/handbook.md";
const ALSO = "also/notes.md";

let stage: Agents;
let data: string;
beforeAll(async () => {
  stage = await openAgents();
  data = stage.bed.data;
  await put(data, [OWN, OTHER, SIBLING, SHARED, ALSO]);
});
afterAll(() => stage?.stop());

const inPlace = { changeCli: inPlaceOf };
/** A run in a project, to which the host names another project too. */
const context = () => ({
  paperclipWorkspace: { cwd: join(data, OWN, ".."), source: "project_primary", projectId: "project-1" },
  paperclipWorkspaces: [{ projectId: "project-2", cwd: join(data, OTHER, "..") }],
});
const policy = () => `volume: { paths: [{ path: ${data}/shared, readOnly: true }, { path: ${data}/also, readOnly: false }] }`;

describe.each(cliNames)("%s", (cli) => {
  /** Which of the files the pod has. */
  const seenWith = async (config: Record<string, unknown>): Promise<string[]> => {
    const script = [OWN, OTHER, SHARED, ALSO].map((path) => `test -e ${data}/${path} && echo ${path}`).join("; ");
    return viewFrom(stage, { cli, ...inPlace, context: context(), config, policy: policy(), script: `${script}; true` });
  };

  /** Refused, and nothing is created. */
  const refused = async (run: Pick<AgentRun, "config" | "policy" | "context" | "change">) => {
    const agent = randomUUID();
    const { result } = await stage.run({ cli, agent, prompt: "never", ...inPlace, ...run });
    const objects = [...(await stage.bed.list("jobs")), ...(await stage.bed.list("secrets"))];
    expect(objects.filter((object) => JSON.stringify(object).includes(agent))).toEqual([]);
    expect(result).toMatchObject({ exitCode: null, errorCode: expect.stringContaining("config") });
    return result.errorMessage;
  };

  test("filesystemScope: the pod has the workspace, and of all others only what filesystemExtraPaths names", async () => {
    expect(await seenWith({})).toEqual([OWN, OTHER, SHARED, ALSO]);
    expect(await seenWith({ filesystemScope: "workspace" })).toEqual([OWN]);
    expect(await seenWith({ filesystemScope: "workspace", filesystemExtraPaths: [`${data}/also`] })).toEqual([OWN, ALSO]);
  });

  test("filesystemExtraPaths: written only with `rw`", async () => {
    const script = `touch ${data}/also/new 2>/dev/null && echo written; rm -f ${data}/also/new`;
    const written = (access: string) => {
      const config = { filesystemScope: "workspace", filesystemExtraPaths: [{ path: `${data}/also`, access }] };
      return viewFrom(stage, { cli, ...inPlace, context: context(), config, policy: policy(), script });
    };
    expect(await written("ro")).toEqual([]);
    expect(await written("rw")).toEqual(["written"]);
  });

  test("filesystemScope in a worktree, which a pod cannot have alone: refused", async () => {
    const cwd = join(data, SIBLING, "..");
    const workspace = { paperclipWorkspace: { cwd, source: "project_primary", projectId: "project-1", strategy: "git_worktree" } };
    const message = await refused({ config: { filesystemScope: "workspace" }, context: workspace });
    expect(message).toContain(`filesystemScope: cannot be kept: beside the workspace ${cwd}`);
  });

  test("a promise that nobody knows: refused", async () => {
    expect(await refused({ config: { networkScope: true } })).toContain("networkScope: must be one of none, deny, allowlist");
  });

  test("filesystemScope where the policy mounts the whole volume: refused", async () => {
    const message = await refused({ config: { filesystemScope: "workspace" }, policy: "volume: { mount: whole }" });
    expect(message).toContain("filesystemScope: cannot be kept: the policy lets pods mount the whole volume");
  });

  test("networkScope: refused with the hosts' names, and run where the operator says that the cluster keeps it", async () => {
    const config = { networkScope: "allowlist", networkAllowlist: ["api.example.com", "git.example.com"] };
    const message = await refused({ config });
    expect(message).toContain('networkScope: "allowlist" with api.example.com, git.example.com is a promise that only the cluster');
    expect(await refused({ config: { networkScope: "deny" } })).toContain('networkScope: "deny" is a promise');
    const kept = join(data, "..", "network-policy.yaml");
    await writeFile(
      kept,
      (await readFile(TEST_POLICY.PAPERCLIP_K8S_POLICY, "utf8")).replace("allow:", "allow:\n  networkScopes: [allowlist]"),
    );
    const serverEnv = { PAPERCLIP_K8S_POLICY: kept };
    expect(await viewFrom(stage, { cli, ...inPlace, config, serverEnv, script: "echo ran" })).toEqual(["ran"]);
  });

  test("a remote environment: refused by its name", async () => {
    const message = await refused({
      context: { paperclipEnvironment: { name: "Build farm", driver: "ssh" } },
      change: { executionTarget: { kind: "remote", transport: "ssh" } },
    } as Parameters<typeof refused>[0]);
    expect(message).toContain('this agent is to run in the environment "Build farm" (ssh)');
  });
});
