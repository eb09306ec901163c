import { randomUUID } from "node:crypto";
import { chmod, copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CliName } from "../../../packages/adapters.ts";
import { type AgentRan, type Agents, openAgents } from "./agents.ts";
import { onKube } from "./bed.ts";

// However a turn ends, the next one goes on from what was saved last, and the log says where that is.

let stage: Agents;
let trouble: string;
beforeAll(async () => {
  stage = await openAgents();
  trouble = join(stage.tools, "trouble.cjs");
  await copyFile(fileURLToPath(new URL("trouble.cjs", import.meta.url)), trouble);
  await chmod(trouble, 0o644);
});
afterAll(() => stage?.stop());

interface Ended {
  readonly cut: AgentRan;
  readonly next: AgentRan;
  /** What the model got in the next turn. */
  readonly reported: string;
  readonly word: string;
}

interface Story {
  readonly cli: CliName;
  /** What `trouble.cjs` does once the trigger is there. */
  readonly tool?: "kill-runner" | "hoard" | "wait";
  readonly config?: Record<string, unknown>;
  /** Called when the turn has begun and a save after that is on the volume. */
  readonly end: (the: { readonly agent: string; readonly trigger: string; cancel(): void }) => Promise<void>;
}

/** A turn that is cut short in the middle of a tool call, and the one after it. */
async function cutShort({ cli, tool = "wait", config, end }: Story): Promise<Ended> {
  const common = { cli, agent: randomUUID(), task: randomUUID() };
  const word = `word-${common.task.slice(0, 8)}`;
  const trigger = join(stage.tools, `trigger-${common.task}`);
  const cancel = new AbortController();
  const cutting = stage.run({
    ...common,
    prompt: `${word} bash:node ${trouble} ${trigger} ${tool}`,
    config: { stateSaveIntervalSec: 1, ...config },
    signal: cancel.signal,
  });
  const during = async () => {
    await saved(common, word);
    await end({ agent: common.agent, trigger, cancel: () => cancel.abort(new Error("Cancelled by the test")) });
  };
  const [cut] = await Promise.all([cutting, during()]);
  const next = await stage.run({ ...common, prompt: `after ${word}`, session: cut.session });
  return { cut, next, word, reported: stage.reported(`after ${word}`).join("\n") };
}

/** Resolves when a save that began after the model was asked is on the volume. */
async function saved(turn: Parameters<Agents["savedFolder"]>[0], word: string): Promise<void> {
  const until = Date.now() + 150_000;
  let askedAt: string | null = null;
  while (Date.now() < until) {
    const asked = stage.llm.requests.some(({ tools, userTexts }) => tools > 0 && userTexts.at(-1)?.includes(word));
    if (asked) askedAt ??= new Date().toISOString().replace(/[-:.]/g, "");
    const names = await readdir(stage.savedFolder(turn)).catch(() => []);
    if (askedAt !== null && names.some((name) => name.endsWith(".tar") && name > (askedAt ?? ""))) {
      // The runner tells of it a moment later.
      await new Promise((resolve) => setTimeout(resolve, 700));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the session was not saved while the CLI ran");
}

async function podOf(agent: string): Promise<string> {
  const pods = await stage.bed.list("pods");
  return pods.find(({ metadata }) => metadata.labels?.["paperclip.io/agent-id"] === agent)?.metadata.name ?? "";
}

function goesOn({ cut, next, reported, word }: Ended): void {
  expect(next.result, `${cut.log}\n${next.log}`).toMatchObject({ exitCode: 0, sessionId: cut.result.sessionId });
  expect(next.log).toContain("session restored (saved ");
  expect(next.log).not.toContain("starting a fresh one");
  expect(reported).toContain(`${word} bash:`);
}

test.concurrent.each<CliName>(["opencode", "claude"])("%s: the pod's processes are killed", async (cli) => {
  const ended = await cutShort({
    cli,
    tool: "kill-runner",
    end: async ({ agent, trigger }) => stage.bed.faults.killRunner(await podOf(agent), { trigger }),
  });
  expect(ended.cut.result, ended.cut.log).toMatchObject({ exitCode: 137, resultJson: { state: { saved: false } } });
  expect(ended.cut.log).toMatch(/the session stands as it was saved at \d{4}-\S+Z/);
  goesOn(ended);
});

test.concurrent("the pod is deleted by force", async () => {
  const ended = await cutShort({
    cli: "claude",
    end: async ({ agent }) => stage.bed.faults.deletePod(await podOf(agent), { gracePeriodSeconds: 0 }),
  });
  // Without proof of the container's end it is held, under our own code; else it is for a person.
  const { resultJson, errorCode } = ended.cut.result;
  expect(resultJson?.cause ?? errorCode).toBe("k8s_job_deleted_externally");
  // A kubelet may leave the runner the second it needs.
  expect(ended.cut.log).toMatch(/the session stands as it was saved at|session saved|session unchanged/);
  goesOn(ended);
});

test.concurrent("the CLI is killed for lack of memory: the runner saves what it left", async () => {
  const ended = await cutShort({
    cli: "claude",
    tool: onKube ? "hoard" : "wait",
    config: { "resources.limits.memory": "600Mi" },
    end: async ({ agent, trigger }) => stage.bed.faults.oom(await podOf(agent), { trigger, victim: "child" }),
  });
  expect(ended.cut.result, ended.cut.log).toMatchObject({
    errorCode: "configuration_incomplete",
    resultJson: { cause: "k8s_oom_killed", state: { saved: true } },
  });
  goesOn(ended);
});

test.concurrent("the pod is evicted", async () => {
  const ended = await cutShort({ cli: "claude", end: async ({ agent }) => stage.bed.faults.evict(await podOf(agent)) });
  expect(ended.cut.result, ended.cut.log).toMatchObject({ errorCode: "k8s_evicted", resultJson: { state: { saved: true } } });
  expect(ended.cut.log).toMatch(/session saved \(|session unchanged since it was saved at/);
  goesOn(ended);
});

test.concurrent("a cancelled run is saved within its grace", async () => {
  const ended = await cutShort({ cli: "opencode", end: async ({ cancel }) => cancel() });
  expect(ended.cut.result).toMatchObject({ errorCode: "cancelled", resultJson: { state: { saved: true } } });
  expect(ended.cut.result.executionRecovery).toMatchObject({ sessionPreserved: true });
  goesOn(ended);
});

test.concurrent("a run at its time limit is saved", async () => {
  const ended = await cutShort({ cli: "claude", config: { timeoutSec: onKube ? 25 : 10, graceSec: 1 }, end: async () => {} });
  expect(ended.cut.result).toMatchObject({ errorCode: "timeout", timedOut: true, resultJson: { state: { saved: true } } });
  goesOn(ended);
});
