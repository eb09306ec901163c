import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { plainEnv } from "../src/agent-kinds.ts";
import type { Agent, Issue, Run } from "../src/company.ts";
import { nextRun, runEnd } from "../src/follow.ts";
import { ROOT, VERSIONS } from "../src/release.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { dropRoot } from "../src/user.ts";
import { until } from "../src/wait.ts";

// The operator's command line and the server's restarts: what nobody has to do, and what one command does.

const [NEWEST, ELDER] = VERSIONS;
const TYPE = "opencode_k8s";
const SPAN = 360_000;
let stage: Stage;

/** As in the server's container: its folders, its address. `after`: ended by SIGTERM once that has come. */
async function cli(
  args: readonly string[],
  after?: (said: () => string) => Promise<unknown>,
): Promise<{ code: number | null; out: string }> {
  const { home, url } = stage.host;
  const place = { PAPERCLIP_HOME: home.path, TMPDIR: home.tmp, PAPERCLIP_API_URL: url, KUBECONFIG: stage.cluster.kubeconfig };
  const env = { PATH: process.env.PATH, ...place };
  const child = spawn(process.execPath, [join(ROOT, "packages/cli/dist/main.js"), ...args], { env, timeout: 120_000 });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (out += text));
  const closed = once(child, "close");
  if (after !== undefined) await after(() => out).finally(() => child.kill("SIGTERM"));
  const [code] = (await closed) as [number | null];
  return { code, out };
}
const recover = (...args: string[]) => cli(["recover", "-n", stage.namespace, ...args]);

const gate = (name: string) => join(stage.host.home.tmp, `gate-${name}`);
const open = (name: string) => writeFileSync(gate(name), "");

interface Begun {
  readonly agent: Agent;
  readonly issue: Issue;
  readonly run: Run;
}

/** An agent at work in one command that ends when its gate is opened. */
async function begin(name: string, then: string): Promise<Begun> {
  const { env, ...config } = stage.config(TYPE);
  // Longer than a restart or two take.
  const patient = { ...(env as object), ...plainEnv({ OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS: "600000" }) };
  const agent = await stage.company.hire(name, TYPE, { ...config, env: patient });
  const issue = await stage.company.assign(
    agent.id,
    name,
    `bash:touch ${gate(name)}-seen; until test -e ${gate(name)}; do sleep 0.2; done; ${then} #`,
  );
  const run = await nextRun(stage.company, agent);
  await until(`${name} at work`, async () => existsSync(`${gate(name)}-seen`), 60);
  return { agent, issue, run };
}

const retryOf = ({ agent, run }: Begun, status?: string) =>
  until(
    "the retry",
    async () => (await stage.company.runs(agent.id)).find((r) => r.retryOfRunId === run.id && (!status || r.status === status)),
    120,
  );
const textOf = async (run: Run) => (await stage.company.log(run.id)).map(({ chunk }) => chunk).join("");
const jobOver = ({ agent }: Begun) =>
  until("the Job's end", async () => stage.cluster.list("jobs", stage.namespace).some((job) => isOver(job, agent.id)), 60);

function isOver(job: ReturnType<Stage["cluster"]["list"]>[number], agentId: string): boolean {
  const { conditions = [] } = (job as { status?: { conditions?: { type: string }[] } }).status ?? {};
  return job.metadata.labels?.["paperclip.io/agent-id"] === agentId && conditions.some(({ type }) => type === "Complete");
}

async function openOn(version: (typeof VERSIONS)[number]): Promise<void> {
  dropRoot();
  stage = await openStage(inject("packed"), { version, say: (line) => console.log(line) });
}

describe(`Paperclip ${NEWEST}`, () => {
  beforeAll(() => openOn(NEWEST!));
  afterAll(() => stage?.stop());

  test(
    "drain, restart: the retry comes by itself, takes the Job over, and its agent closes the issue; twice in one run",
    async () => {
      const begun = await begin("drained", "close-issue");
      const first = await cli(["drain", "--reason", "the server is being upgraded"]);
      expect(first).toMatchObject({ code: 0, out: expect.stringContaining(`let go  ${begun.run.id}`) });
      expect(await stage.company.run(begun.run.id)).toMatchObject({ status: "failed", errorCode: "k8s_detached", usageJson: null });
      await stage.host.restart("SIGTERM");
      const second = await retryOf(begun, "running");
      await until("the adoption", async () => (await textOf(second).catch(() => "")).includes("adopted Job"), 30);

      expect(await cli(["drain"])).toMatchObject({ code: 0, out: expect.stringMatching(/detached 1 run\n$/) });
      await stage.host.restart("SIGTERM");
      const third = await retryOf({ ...begun, run: second }, "running");
      await until("the adoption", async () => (await textOf(third).catch(() => "")).includes("adopted Job"), 30);
      // The host would not go on a third time: left to recover.
      expect(await cli(["drain", "--timeout", "2s"])).toMatchObject({ code: 3, out: expect.stringContaining(`left    ${third.id}`) });
      expect(await cli(["drain", "--undo"])).toMatchObject({ code: 0 });
      open("drained");
      expect(await runEnd(stage.company, third.id)).toMatchObject({ status: "succeeded", errorCode: null });
      expect(await textOf(third)).toContain("200 closed");
      expect(await stage.company.issue(begun.issue.id)).toMatchObject({ status: "done" });
      await until("the Job gone", async () => (await stage.jobs()).length === 0, 30);
    },
    SPAN,
  );

  test(
    "recover releases what is over, not what lives; the next run settles the Job from its files",
    async () => {
      const over = await begin("over", "echo finished");
      const alive = await begin("alive", "echo finished");
      await stage.host.restart("SIGTERM");
      const held = async ({ issue }: Begun) => (await stage.company.issue(issue.id)).executionBlocker;
      for (const one of [over, alive]) await until("the hold", () => held(one), 60);
      expect(await recover()).toMatchObject({ code: 3, out: expect.stringMatching(/2 issues held, 0 to be released/) });

      open("over");
      await jobOver(over);
      expect(await recover("--dry-run")).toMatchObject({ code: 3, out: expect.stringMatching(/2 issues held, 1 to be released/) });
      expect(await held(over)).toBeTruthy();
      const released = await recover();
      expect(released).toMatchObject({ code: 3, out: expect.stringContaining("released (completed") });
      expect(await held(over)).toBeFalsy();
      expect(await held(alive)).toBeTruthy();
      const next = await retryOf(over);
      expect(await runEnd(stage.company, next.id)).toMatchObject({
        status: "succeeded",
        contextSnapshot: { wakeReason: "issue_recovery_action_restored" },
      });
      for (const text of ["adopted Job", "finished"]) expect(await textOf(next)).toContain(text);

      const watched = await cli(["recover", "-n", stage.namespace, "--watch", "--every", "2s"], async (said) => {
        await until("the first list", async () => said().includes("1 issue held"), 30);
        open("alive");
        await until("the release", async () => said().includes("released ("), 60);
      });
      expect(watched).toMatchObject({ code: 0, out: expect.stringMatching(/alive: its pod runs[^#]*: released \(completed/) });
      expect(await runEnd(stage.company, (await retryOf(alive)).id)).toMatchObject({ status: "succeeded" });
      expect((await recover()).out).toBe("no issue is held\n");
    },
    SPAN,
  );
});

describe(`Paperclip ${ELDER}`, () => {
  beforeAll(() => openOn(ELDER!));
  afterAll(() => stage?.stop());

  test(
    "drain leaves runs alone: the host starts them again by itself",
    async () => {
      const begun = await begin("elder", "close-issue");
      expect(await cli(["drain"])).toMatchObject({ code: 3, out: expect.stringContaining(`left    ${begun.run.id}`) });
      expect(await stage.company.run(begun.run.id)).toMatchObject({ status: "running" });
      await stage.host.restart("SIGTERM");
      const next = await retryOf(begun, "running");
      await until("the adoption", async () => (await textOf(next).catch(() => "")).includes("adopted Job"), 60);
      open("elder");
      expect(await runEnd(stage.company, next.id)).toMatchObject({ status: "succeeded" });
      expect(await stage.company.issue(begun.issue.id)).toMatchObject({ status: "done" });
    },
    SPAN,
  );
});
