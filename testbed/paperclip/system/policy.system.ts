import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execKubeconfig } from "@paperclip-k8s/paperclip/testing/exec-kubeconfig";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { USUAL_TYPE } from "../src/agent-kinds.ts";
import { adaptersOf } from "../src/host/adapters.ts";
import { call } from "../src/host/api.ts";
import type { Agent, Issue } from "../src/host/company.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import { VERSIONS } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, PROGRAMS, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";

// An agent can change its own settings, and an issue can carry some: what they ask for beyond the operator's policy is refused, and nothing is created.

let stage: Stage;
let folder: string;
let policy: string;
/** Made by a program that the agent's own kubeconfig names, if the server ever starts it. */
let marker: string;

/** What agents try, and how the refusal of each begins. */
const DANGEROUS: Readonly<Record<string, readonly [value: unknown, refusal: string]>> = {
  serviceAccountName: ["paperclip", 'Service account (serviceAccountName): "paperclip" is not allowed by the operator\'s policy'],
  namespace: ["kube-system", 'Namespace: "kube-system" is not allowed by'],
  dataPath: ["/etc", 'Data path (dataPath): "/etc" is not allowed by'],
  serverContainer: ["vault", 'Server container (serverContainer): "vault" is not allowed by'],
  inherit: ["all", 'Inherit from the server (inherit): "all" is not allowed by'],
  inheritNames: [["DATABASE_URL", "server-secrets"], 'Also inherit (inheritNames): "DATABASE_URL" is not allowed by'],
  labels: [{ app: "postgres" }, 'Labels: "app" is not allowed by'],
  retainJobs: [true, "Retain Jobs (retainJobs): true is not allowed by"],
  runtimeClassName: ["privileged", 'Runtime class (runtimeClassName): "privileged" is not allowed by'],
  "resources.limits.memory": ["4Ti", "Memory limit (resources.limits.memory): 4Ti is more than 128Gi"],
  timeoutSec: [31_000_000, "Timeout (sec) (timeoutSec): 31000000 is more than"],
  dataClaim: ["postgres", 'Data claim (dataClaim): "postgres" is not allowed by'],
  nodeSelector: [{ "node-role.kubernetes.io/control-plane": "" }, "Node selector (nodeSelector): "],
  tolerations: [[{ operator: "Exists" }], "Tolerations[0]: a toleration without a key accepts every taint"],
};

/** Agents may use the stage's cluster, and get what `more` says. */
const writePolicy = (more: object): void =>
  writeFileSync(
    policy,
    JSON.stringify({ allow: { kubeconfigs: [stage.cluster.kubeconfig], namespaces: [stage.namespace], claims: ["data"] }, ...more }),
  );

/** A kubeconfig in the agent's workspace, whose user is a program. */
function plantKubeconfig(agentId: string): string {
  const workspace = join(stage.host.home.path, "instances/default/workspaces", agentId);
  mkdirSync(workspace, { recursive: true });
  const path = join(workspace, "kubeconfig");
  writeFileSync(path, execKubeconfig("touch", [marker]));
  return path;
}

/** What was created so far; Jobs of earlier runs may still be deleted meanwhile. */
const created = () => stage.cluster.requests.filter(({ verb }) => verb === "create").length;
const hire = (name: string): Promise<Agent> => stage.company.hire(name, USUAL_TYPE, stage.config(USUAL_TYPE));

/** The host as this agent sees it. */
async function asAgent(agent: Agent): Promise<{ readonly url: string; readonly headers: Record<string, string> }> {
  const { token } = await call<{ token: string }>(stage.host, "POST", `/agents/${agent.id}/keys`, { name: "own" });
  return { url: stage.host.url, headers: { authorization: `Bearer ${token}` } };
}

async function refusedRun(agent: Agent, refusals: readonly string[], known?: { readonly id: string }): Promise<void> {
  const run = await runEnd(stage.company, (await nextRun(stage.company, agent, known as never)).id);
  expect(run).toMatchObject({ status: "failed", errorCode: "configuration_incomplete" });
  for (const refusal of refusals) expect(run.error).toContain(refusal);
}

describe.each(VERSIONS)("Paperclip %s", (version) => {
  beforeAll(async () => {
    dropRoot();
    folder = realpathSync(mkdtempSync(join(tmpdir(), "policy-system-")));
    marker = join(folder, "started-by-the-server");
    policy = join(folder, "policy.yaml");
    stage = await openStage(inject("packed"), { version, env: { PAPERCLIP_K8S_POLICY: policy } });
    // Only now is the cluster's kubeconfig known; the server reads the file for each run.
    writePolicy({});
  });
  afterAll(async () => {
    await stage?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an agent in its pod changes its own settings with its run's token: that run goes on, the next one is refused", async () => {
    const agent = await hire("Changer");
    const wish = Buffer.from(JSON.stringify({ serviceAccountName: "paperclip" })).toString("base64");
    const issue = await stage.company.assign(agent.id, `Change ${agent.id}`, `bash:${PROGRAMS}/change-own-settings ${wish} #`);
    const first = await runEnd(stage.company, (await nextRun(stage.company, agent)).id);
    expect(first).toMatchObject({ status: "succeeded" });
    expect(JSON.stringify(await stage.company.log(first.id))).toContain("200 asked for other settings");
    expect((await stage.company.agent(agent.id)).adapterConfig).toMatchObject({ serviceAccountName: "paperclip" });
    const before = created();
    await stage.company.comment(issue.id, "say:again");
    await refusedRun(agent, [DANGEROUS.serviceAccountName![1], `add "paperclip" to allow.serviceAccounts there`], first);
    expect(created()).toBe(before);
  });

  test("each dangerous setting that an agent gives itself with its key is refused by name", async () => {
    const before = created();
    for (const [key, [value, refusal]] of Object.entries(DANGEROUS)) {
      const agent = await hire(`Own ${key}`);
      await call(await asAgent(agent), "PATCH", `/agents/${agent.id}`, { adapterConfig: { [key]: value } });
      await stage.company.wake(agent.id);
      await refusedRun(agent, [refusal]);
    }
    expect(created()).toBe(before);
  });

  test("a kubeconfig of the agent's own is never loaded, so its program is not started in the server", async () => {
    const agent = await hire("Own kubeconfig");
    const kubeconfig = plantKubeconfig(agent.id);
    await call(await asAgent(agent), "PATCH", `/agents/${agent.id}`, { adapterConfig: { kubeconfig } });
    await stage.company.wake(agent.id);
    await refusedRun(agent, [`Kubeconfig: ${kubeconfig} lies on the volume that agents can write, which no policy can allow`]);
    const { checks } = await adaptersOf(stage.host).testEnvironment(stage.company.id, USUAL_TYPE, {
      ...stage.config(USUAL_TYPE),
      kubeconfig,
    });
    expect(checks).toContainEqual(expect.objectContaining({ code: "policy_refused", level: "error" }));
    expect(existsSync(marker)).toBe(false);
  });

  test("an issue that carries settings is refused all the same, the server's files and secrets included", async () => {
    const agent = await hire("Overridden");
    const kubeconfig = plantKubeconfig(agent.id);
    const own = await asAgent(agent);
    const before = created();
    const wishes = [
      ...Object.entries(DANGEROUS).map(([key, [value, refusal]]) => ({ adapterConfig: { [key]: value }, refusal })),
      { adapterConfig: { kubeconfig }, refusal: "Kubeconfig: " },
      { adapterConfig: { instructionsFilePath: "/proc/self/environ" }, refusal: 'instructionsFilePath: "/proc/self/environ"' },
      {
        adapterConfig: { instructionsFilePath: join(stage.host.home.path, "instances/default/config.json") },
        refusal: "instructionsFilePath: ",
      },
    ];
    // One after the other: the host's database waits for itself when many issues come at once.
    for (const { adapterConfig, refusal } of wishes) {
      const key = Object.keys(adapterConfig)[0];
      const wish = { title: `Wish ${key} of ${agent.id}`, description: "say:never", status: "todo", assigneeAgentId: agent.id };
      const issue = await call<Issue>(own, "POST", `/companies/${stage.company.id}/issues`, {
        ...wish,
        assigneeAdapterOverrides: { adapterConfig },
      });
      const run = await until(`the run for ${key}`, async () =>
        (await stage.company.runs(agent.id)).find(({ contextSnapshot }) => contextSnapshot?.issueId === issue.id),
      );
      const ended = await runEnd(stage.company, run.id);
      expect(ended, key).toMatchObject({ status: "failed", errorCode: "configuration_incomplete" });
      expect(ended.error, key).toContain(refusal);
      expect(JSON.stringify(await stage.company.log(run.id)), key).not.toContain(stage.host.home.jwtSecret);
    }
    expect(created()).toBe(before);
    expect(existsSync(marker)).toBe(false);
  });

  test("an agent can take another name and role, by which it gets nothing that it may not ask for; by its id another one does", async () => {
    const climber = await hire("Climber");
    const chosen = await hire("Chosen");
    const defaults = { labels: { app: "postgres" } };
    writePolicy({
      agents: [
        { match: { name: "Taken" }, defaults: { serviceAccountName: "paperclip" } },
        { match: { company: stage.company.id, role: "ceo" }, defaults },
        { match: { id: chosen.id }, defaults },
      ],
    });
    await call(await asAgent(climber), "PATCH", `/agents/${climber.id}`, { name: "Taken", role: "ceo", metadata: {} });
    expect(await stage.company.agent(climber.id)).toMatchObject({ name: "Taken", role: "ceo" });
    const before = created();
    await stage.company.wake(climber.id);
    await refusedRun(climber, [DANGEROUS.serviceAccountName![1], DANGEROUS.labels![1]]);
    expect(created()).toBe(before);
    await stage.company.assign(chosen.id, `Work of ${chosen.id}`, "say:done");
    expect(await runEnd(stage.company, (await nextRun(stage.company, chosen)).id)).toMatchObject({ status: "succeeded" });
  });
});
