import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { permissions } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadKits } from "../../../packages/adapters.ts";
import { makeDatabase } from "../../../packages/engine/src/import/testing/import-fixture.ts";
import { connect } from "../../../packages/engine/src/kube/connection.ts";
import { createJob } from "../../../packages/engine/src/kube/writes.ts";
import { type AgentRun, type Agents, openAgents } from "./agents.ts";
import { placeRecordedCli } from "./recorded-cli.ts";

// Sessions that the adapters before this one left: which are imported, which are not, and what the run's log says of it.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

const SQL = await readFile(new URL("../../../packages/adapter-opencode/testing/earlier-database.sql", import.meta.url), "utf8");
const OPENCODE_ID = "ses_e1a0db60cffeZjnHHik3JEeSkd";
const DATABASE = ".local/share/opencode/opencode.db";

async function turn(run: Partial<AgentRun> & Pick<AgentRun, "cli" | "agent" | "task">) {
  const recorded = await placeRecordedCli(`${stage.tools}/${randomUUID()}`, run.cli, ["success"]);
  const ran = await stage.run({ prompt: "hello", ...run, config: { command: recorded.command, ...run.config } });
  return { ...ran, args: (await recorded.calls()).map(({ args }) => args) };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(stage.bed.data, path)), { recursive: true });
  await writeFile(join(stage.bed.data, path), text);
}

const conversation = (cli: AgentRun["cli"]) => ({ cli, agent: randomUUID(), task: randomUUID() });

test("Claude Code: a transcript is imported by the first run that resumes it, and never again", async () => {
  const [made, sessionId] = [conversation("claude"), randomUUID()];
  await put(`.claude/projects/-somewhere/${sessionId}.jsonl`, "{}\n");
  // The folder in which an earlier adapter ran it is no reason to leave it.
  const first = await turn({ ...made, session: { sessionId, cwd: "/paperclip" } });
  expect(first.result, first.log).toMatchObject({ exitCode: 0 });
  expect(first.log).toMatch(
    new RegExp(
      `session ${sessionId} of an earlier adapter goes on: imported from .*/-somewhere/${sessionId}\\.jsonl \\(1 files, 3 bytes\\)`,
    ),
  );
  expect(first.log).toContain("session restored (saved ");
  expect(first.args).toEqual([expect.arrayContaining(["--resume", sessionId])]);
  expect(first.session).toMatchObject({ stateMode: "portable", stateSigned: true });
  // Removed by hand, the state is gone: the host's record says that the session is no longer where it was.
  await rm(stage.savedFolder(made), { recursive: true });
  const second = await turn({ ...made, session: { ...first.session, sessionId } });
  expect(second.log).not.toContain("earlier adapter");
  expect(second.log).not.toContain("session restored (saved ");
});

test("a live Job of an earlier adapter may still write the session: it is imported when that Job is gone", async () => {
  const [made, sessionId, lines] = [conversation("claude"), randomUUID(), [] as string[]];
  const transcript = `.claude/projects/-live/${sessionId}.jsonl`;
  await put(transcript, "{}\n");
  const name = `older-${made.agent.slice(0, 8)}`;
  const { type } = (await loadKits())[made.cli].cli;
  const labels = { "paperclip.io/agent-id": made.agent, "paperclip.io/adapter-type": type };
  const container = { name: "main", image: "none" };
  await createJob(await connect({ kubeconfig: stage.bed.kubeconfig }), stage.bed.namespace, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace: stage.bed.namespace, labels },
    spec: { suspend: true, template: { metadata: { labels }, spec: { restartPolicy: "Never", containers: [container] } } },
  });
  const ran = turn({ ...made, session: { sessionId }, change: { onLog: async (_, chunk) => void lines.push(chunk) } });
  await expect.poll(() => lines.join("")).toContain(`waiting for Job ${name} of an earlier adapter to end before session ${sessionId}`);
  await put(transcript, "{}\n{}\n");
  await stage.bed.faults.deleteJob(name, "Foreground");
  expect((await ran).result, lines.join("")).toMatchObject({ exitCode: 0 });
  expect(lines.join("")).toMatch(/imported from .*\(1 files, 6 bytes\)/);
});

test("OpenCode: a session of a database that agents shared is imported by the first run that resumes it", async () => {
  makeDatabase(join(stage.bed.data, DATABASE), SQL);
  const made = conversation("opencode");
  const first = await turn({ ...made, session: { sessionId: OPENCODE_ID } });
  expect(first.result, first.log).toMatchObject({ exitCode: 0 });
  expect(first.log).toMatch(/session ses_\w+ of an earlier adapter goes on: imported from \S+opencode\.db \(\d+ rows, \d+ bytes\)/);
  expect(first.log).toContain("session restored (saved ");
  expect(first.args).toEqual([expect.arrayContaining(["--session", OPENCODE_ID])]);
});

test("an agent whose CLI reports the id of another agent's session does not get that session", async () => {
  const made = conversation("claude");
  const first = await turn(made);
  const sessionId = first.result.sessionId ?? "";
  expect(first.session).toMatchObject({ sessionId, stateMode: "portable" });
  await put(`.claude/projects/-of-another/${sessionId}.jsonl`, "another agent's words\n");
  await rm(stage.savedFolder(made), { recursive: true });
  const { log } = await turn({ ...made, session: first.session });
  expect(log).not.toContain("imported from");
  expect(log).not.toContain("session restored (saved ");
});

test("what can never be imported starts a fresh session and says why", async () => {
  const [made, sessionId] = [conversation("claude"), randomUUID()];
  await put(".claude/projects/-linked/x", "");
  await symlink("/etc/hostname", join(stage.bed.data, `.claude/projects/-linked/${sessionId}.jsonl`));
  const { result, log, args } = await turn({ ...made, session: { sessionId } });
  expect(result, log).toMatchObject({ exitCode: 0 });
  expect(log).toMatch(/session \S+ of another adapter cannot be taken over \(.*\); starting a fresh one/);
  expect(args.flat()).not.toContain(sessionId);
});

test("a session that is nowhere is looked for, and then left to the CLI", async () => {
  const { log, args } = await turn({ ...conversation("claude"), session: { sessionId: randomUUID() } });
  expect(log).toMatch(/session \S+ of an earlier adapter is in none of these places: .*\.claude\/projects/);
  expect(args[0]).toContain("--resume");
});

test("a session on the agent's claim goes on there while no mode is chosen; a claim that cannot be looked at is not taken for none", async () => {
  const [made, sessionId] = [conversation("opencode"), "ses_0000000000000000000000000a"];
  const agentDbStorageClass = await stage.bed.addStorageClass(1);
  await turn({ ...made, config: { agentDbMode: "dedicated_pvc", agentDbStorageClass } });
  const found = await turn({ ...made, session: { sessionId } });
  expect(found.result, found.log).toMatchObject({ exitCode: 0 });
  expect(found.log).toMatch(
    new RegExp(`session ${sessionId} of an earlier adapter goes on where it is: on claim \\S+/opencode-db-${made.agent}`),
  );
  expect(found.session).toMatchObject({ stateMode: "dedicated_pvc" });
  const next = await turn({ ...made, session: found.session });
  expect(next.session).toMatchObject({ stateMode: "dedicated_pvc" });
  expect(next.log).not.toContain("earlier adapter");
  const kubeconfig = await stage.bed.account(permissions.filter(({ resource }) => resource !== "persistentvolumeclaims"));
  const unseen = await turn({ ...conversation("opencode"), session: { sessionId }, config: { kubeconfig } });
  expect(unseen.result).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: expect.stringMatching(/may be on claim .*is not allowed to look at/),
  });
  expect(unseen.args).toEqual([]);
  const portable = await turn({ ...conversation("opencode"), session: { sessionId }, config: { kubeconfig, agentDbMode: "portable" } });
  expect(portable.result, portable.log).toMatchObject({ exitCode: 0 });
});
