import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";
import { onKube } from "./bed.ts";

// Trouble with saved sessions on the volume: a clear word, and what was saved before stays.

let stage: Agents;
const mounts: string[] = [];
beforeAll(async () => {
  stage = await openAgents();
});
afterEach(() => {
  for (const folder of mounts.splice(0)) execFileSync("umount", ["-l", folder]);
});
afterAll(() => stage?.stop());

const conversation = () => ({ cli: "claude" as const, agent: randomUUID(), task: randomUUID() });
type Conversation = ReturnType<typeof conversation>;

/** The conversation's saved sessions on a file system of their own, which the pods' user may write. */
async function mountSmall(turn: Conversation, size: string): Promise<string> {
  const folder = stage.savedFolder(turn);
  await mkdir(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},uid=1000,gid=1000,mode=770`, "tmpfs", folder]);
  mounts.push(folder);
  return folder;
}

// A mount made here does not reach the node of the real cluster.
const mountable = !onKube && process.getuid?.() === 0;

test.skipIf(!mountable)("a full volume: reported, and the next turn goes on from what was saved before", async () => {
  const turn = conversation();
  const folder = await mountSmall(turn, "4m");
  const first = await stage.run({ ...turn, prompt: "first-word" });
  expect(first.result).toMatchObject({ exitCode: 0, resultJson: { state: { saved: true } } });
  const filler = join(folder, "filler");
  execFileSync("sh", ["-c", `cat /dev/zero > "$1" 2>/dev/null || true`, "sh", filler]);
  const second = await stage.run({ ...turn, prompt: "second-word", session: first.session });
  expect(second.result, second.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(second.log).toMatch(/session not saved: cannot save the state: ENOSPC.*; the session stands as it was saved at \d{4}/);
  expect(second.result.resultJson).toMatchObject({ state: { saved: false, error: expect.stringContaining("ENOSPC") } });
  await rm(filler);
  const third = await stage.run({ ...turn, prompt: "third-word", session: second.session });
  expect(third.result).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId, resultJson: { state: { saved: true } } });
  expect(stage.reported("third-word").join()).toContain("first-word");
  expect(stage.reported("third-word").join()).not.toContain("second-word");
});

test.skipIf(!mountable)("a read-only volume: restored from, reported that nothing can be saved", async () => {
  const turn = conversation();
  const folder = await mountSmall(turn, "4m");
  const first = await stage.run({ ...turn, prompt: "first-word" });
  const before = (await readdir(folder)).sort();
  execFileSync("mount", ["-o", "remount,ro", folder]);
  const second = await stage.run({ ...turn, prompt: "second-word", session: first.session });
  expect(second.result, second.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(stage.reported("second-word").join()).toContain("first-word");
  expect(second.log).toMatch(/session not saved: cannot save the state: EROFS.*; the session stands as it was saved at \d{4}/);
  expect((await readdir(folder)).sort()).toEqual(before);
});

test("a half-written state is passed over for the one before it; with none left, a fresh start that says so", async () => {
  const turn = conversation();
  const first = await stage.run({ ...turn, prompt: "first-word" });
  const second = await stage.run({ ...turn, prompt: "second-word", session: first.session });
  const folder = stage.savedFolder(turn);
  const { current } = JSON.parse(await readFile(join(folder, "current"), "utf8")) as { current: string };
  await truncate(join(folder, current), (await stat(join(folder, current))).size / 2);
  const third = await stage.run({ ...turn, prompt: "third-word", session: second.session });
  expect(third.log).toMatch(/saved state \S+\.tar cannot be used: .*\n.*an earlier state was restored, saved \d{4}/);
  expect(third.result, third.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(stage.reported("third-word").join()).toContain("first-word");
  expect(stage.reported("third-word").join()).not.toContain("second-word");
  for (const name of await stage.generations(turn)) await writeFile(join(folder, name), "not an archive");
  const fourth = await stage.run({ ...turn, prompt: "fourth-word", session: third.session });
  expect(fourth.log).toContain("no saved state can be used: a fresh start");
  expect(fourth.log).toMatch(/session \S+ is not known to the CLI any more \(nothing was saved for this task\); starting a fresh one/);
  expect(fourth.result, fourth.log).toMatchObject({ exitCode: 0, resultJson: { state: { saved: true } } });
  expect(fourth.result.sessionId).not.toBe(first.result.sessionId);
});

test("two servers save at once: one of the two stands, whole, and it is reported", async () => {
  const turn = conversation();
  const first = await stage.run({ ...turn, prompt: "first-word" });
  // Servers of two clusters on one volume have no Job names in common.
  const at = (prompt: string, jobPrefix: string) =>
    stage.run({ ...turn, prompt, session: first.session, changeCli: (cli) => ({ ...cli, jobPrefix }) });
  const both = await Promise.all([at("left-word slow-2", "agent-left-"), at("right-word slow-2", "agent-right-")]);
  for (const { result, log } of both) expect(result, log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(both.map(({ log }) => log).join()).toMatch(/another run saved its state meanwhile/);
  const last = await stage.run({ ...turn, prompt: "last-word", session: both[0].session });
  expect(last.result, last.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(last.log).not.toContain("cannot be used");
  const reported = stage.reported("last-word").join();
  expect(reported).toContain("first-word");
  expect(["left-word", "right-word"].filter((word) => reported.includes(word))).toHaveLength(1);
});
