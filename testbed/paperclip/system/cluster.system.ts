import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { claude } from "../../../packages/adapter-claude/src/agent-cli.ts";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { cliNames } from "../../../packages/adapters.ts";
import { TYPES } from "../src/agent-kinds.ts";
import { NODE_SELECTOR, TOLERATIONS } from "../src/cluster/overlay.ts";
import { type ClusterStage, openClusterStage } from "../src/cluster/stage.ts";
import { adaptersOf } from "../src/host/adapters.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import { HANG_MS, until } from "../src/wait.ts";
import { closesItsIssue } from "./agents/closes-its-issue.ts";
import { manyAtOnce } from "./agents/many-at-once.ts";
import { LONG, NEWEST } from "./breadth.ts";
import { refusesToStart } from "./restart/refuses-to-start.ts";
import { rolloutUnderLiveRuns } from "./restart/rollout.ts";

// The newest host inside the real cluster, from deploy/: a server without CLIs, and agents in an image of their own that inherit the rest from its pod.

let stage: ClusterStage;
beforeAll(async () => {
  stage = await openClusterStage(inject("packed"), { version: NEWEST, say: (line) => console.log(line) });
});
afterAll(() => stage?.stop());

/** Built-in types, each with our own type for the same CLI. */
const BUILT_IN = cliNames.map((name) => [`${name}_local`, `${name}_k8s`] as const);

const settled = { timeout: HANG_MS, interval: 500 };

test.each(TYPES)("%s: the form's test finds nothing to object to in a setup that inherits everything", async (type) => {
  const { status, checks } = await adaptersOf(stage.host).testEnvironment(stage.company.id, type, stage.config(type));
  expect(checks.filter(({ level }) => level === "error")).toEqual([]);
  expect(status).not.toBe("fail");
});

test.each(TYPES)("%s: an issue goes from assigned to done, by the agent's own hand", async (type) => {
  const { run } = await closesItsIssue(stage, type);
  expect(JSON.stringify(await stage.company.events(run.id))).not.toContain("not-a-key");
});

test.each(BUILT_IN)("%s in its place: a built-in agent does its task as a Job", async (hostType, type) => {
  await closesItsIssue(stage, type, hostType);
});

test.each(BUILT_IN)("%s paused: no agent runs in a server without CLIs, and its run says what is missing", async (hostType, type) => {
  const { company, host } = stage;
  const agent = await company.hire(`Paused ${hostType}`, hostType, stage.config(type));
  const asked = stage.llm.requests.length;
  await adaptersOf(host).pause(hostType, true);
  try {
    const issue = await company.assign(agent.id, `Paused ${agent.id}`, "say:never");
    const run = await runEnd(company, (await nextRun(company, agent)).id);
    expect(run).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^(Command not found in PATH|\w+ ACP server command is not available): /),
    });
    await company.update(issue.id, { status: "cancelled" });
  } finally {
    await adaptersOf(host).pause(hostType, false);
  }
  expect(stage.llm.requests.length).toBe(asked);
});

test("a Job has the agents' image, and volume, user and node settings of the server's own pod, and none of its secrets", async () => {
  const { company, deployed } = stage;
  const agent = await company.hire("Heir", "claude_k8s", stage.config("claude_k8s"));
  const issue = await company.assign(agent.id, "Heir", "endless-steps slow-1");
  const query = ["get", "jobs", "-l", `paperclip.io/agent-id=${agent.id}`, "-o", "json"];
  const jobs = async () => (JSON.parse(await deployed.agents(...query)) as { items: Job[] }).items;
  try {
    const job = await until("the Job", async () => (await jobs())[0]);
    const { spec } = job.spec.template;
    expect(spec.containers[0]?.image).toBe(stage.images.agents);
    expect(spec).toMatchObject({ nodeSelector: NODE_SELECTOR, securityContext: { runAsUser: 1000 } });
    expect(spec.tolerations).toEqual(expect.arrayContaining([...TOLERATIONS]));
    expect(JSON.stringify(spec.volumes)).toContain('"claimName":"paperclip-data"');
    // That the model's address and key came along, the runs above have shown: only the server's pod has them.
    for (const secret of ["not-a-key", "BETTER_AUTH_SECRET"]) expect(JSON.stringify(job)).not.toContain(secret);
  } finally {
    const run = await nextRun(company, agent);
    // A pod that is stopped in its first moments may take longer to end than the host waits for a cancel.
    await until("the agent at work", async () => JSON.stringify(await company.log(run.id)).includes("▸ "));
    await company.cancel(run.id);
    await company.update(issue.id, { status: "cancelled" });
  }
  await expect.poll(jobs, settled).toEqual([]);
});

// Ten starts of OpenCode keep two cores busy for a minute; host.system.ts has some of it.
test.each(LONG ? [claude, opencode] : [claude])("$type: ten issues at once for one agent: all done, transcripts complete", (cli) =>
  manyAtOnce(stage, cli, 10, (path) => join(stage.deployed.data, path.replace(/^\/paperclip\//, ""))),
);

const LIVE = LONG ? 10 : 3;
test(`a rollout under ${LIVE} live runs: each Job is taken over once and finishes its issue`, () => rolloutUnderLiveRuns(stage, LIVE));

test("a server that cannot load an adapter does not start, and says which and why", () => refusesToStart(stage));

interface Job {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly volumes: unknown;
        readonly tolerations: unknown;
        readonly containers: readonly { readonly image: string }[];
      };
    };
  };
}
