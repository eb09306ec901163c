import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { plainEnv } from "../src/agent-kinds.ts";
import type { Agent, Issue, Run } from "../src/company.ts";
import { nextRun, runEnd } from "../src/follow.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { dropRoot } from "../src/user.ts";
import { until } from "../src/wait.ts";
import { noJobOf } from "./closes-its-issue.ts";

// A server goes away in the middle of its runs. This host starts a retry by itself: it goes on with the Job and finishes its issue.

const VERSION = "2026.824.1";
let stage: Stage;
beforeAll(async () => {
  dropRoot();
  stage = await openStage(inject("packed"), { version: VERSION, say: (line) => console.log(line) });
});
afterAll(() => stage?.stop());

interface Scene {
  readonly agent: Agent;
  readonly issue: Issue;
  readonly run: Run;
  readonly goOn: () => Promise<void>;
}

/** An agent whose command waits for our word in the middle of its turn. */
async function begin(name: string, command: string): Promise<Scene> {
  const sign = join(stage.host.home.path, `go-${name}`);
  const { env, ...config } = stage.config("opencode_k8s");
  const patient = { ...(env as object), ...plainEnv({ OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS: "600000" }) };
  const agent = await stage.company.hire(name, "opencode_k8s", { ...config, env: patient });
  const issue = await stage.company.assign(agent.id, name, `bash:until [ -e ${sign} ]; do sleep 0.2; done; ${command} #`);
  const run = await nextRun(stage.company, agent);
  await until(`the turn of ${name}`, async () => (await textOf(run)).includes("CLI started"), 60);
  await until(
    `the model's word to ${name}`,
    async () => stage.llm.requests.some(({ tools, userTexts }) => tools > 0 && userTexts.some((text) => text.includes(sign))),
    60,
  );
  return { agent, issue, run, goOn: () => writeFile(sign, "") };
}

/** Empty as long as the host has no log of it. */
const textOf = async ({ id }: Run): Promise<string> => {
  const pieces = await stage.company.log(id).catch(() => []);
  return pieces.map(({ chunk }) => chunk).join("");
};

async function adopted({ agent, run }: Scene): Promise<Run> {
  const retry = await nextRun(stage.company, agent, run);
  expect(retry.retryOfRunId).toBe(run.id);
  await until(`the adoption of ${run.id}`, async () => (await textOf(retry)).includes(`of run ${run.id}`), 60);
  return retry;
}

for (const signal of ["SIGKILL", "SIGTERM"] as const)
  test(`${signal}: the host's own retry adopts the Job, the agent still closes its issue, and without the relay it cannot; a cancel ends it`, async () => {
    const [relayed, direct, unwanted] = await Promise.all([
      begin(`relayed-${signal}`, "close-issue"),
      begin(`direct-${signal}`, `PAPERCLIP_API_URL=${stage.host.url} close-issue`),
      begin(`unwanted-${signal}`, "close-issue"),
    ]);
    const jobs = new Set(await stage.jobs());
    await stage.host.end(signal);
    expect(new Set(await stage.jobs())).toEqual(jobs);
    await stage.host.start();
    const [retry, other, third] = await Promise.all([adopted(relayed), adopted(direct), adopted(unwanted)]);
    expect(new Set(await stage.jobs())).toEqual(jobs);
    await Promise.all([relayed.goOn(), direct.goOn()]);

    expect(await runEnd(stage.company, retry.id)).toMatchObject({ status: "succeeded", errorCode: null });
    const log = await textOf(retry);
    expect(log).toContain("200 closed");
    expect(log.match(/CLI started/g)).toHaveLength(1);
    expect(await stage.company.issue(relayed.issue.id)).toMatchObject({ status: "done" });
    const old = await stage.company.run(relayed.run.id);
    expect(old).toMatchObject(signal === "SIGTERM" ? { status: "interrupted" } : { status: "failed", errorCode: "process_lost" });
    const invoked = (await stage.company.events(retry.id)).filter(({ eventType }) => eventType === "adapter.invoke");
    expect(invoked).toHaveLength(1);
    expect(invoked[0]?.payload).toMatchObject({ prompt: "", commandNotes: expect.arrayContaining([`adopted from run ${relayed.run.id}`]) });
    await noJobOf(stage, relayed.agent);

    await stage.company.cancel(third.id);
    expect(await runEnd(stage.company, third.id)).toMatchObject({ status: "cancelled" });
    await stage.company.update(unwanted.issue.id, { status: "cancelled" });
    await noJobOf(stage, unwanted.agent);

    // The day this is accepted, the relay has lost its reason.
    await runEnd(stage.company, other.id);
    expect(await textOf(other)).toContain("Issue run ownership conflict");
    expect(await stage.company.issue(direct.issue.id)).not.toMatchObject({ status: "done" });
    await stage.company.update(direct.issue.id, { status: "cancelled" });
  }, 240_000);
