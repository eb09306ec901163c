import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";

// What a session rests on besides its files: the CLI's version, where sessions are kept, what may overlap, the home of earlier runs.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

test("a session saved by an older version: reported, and resumed; what cannot be resumed begins anew, with the versions", async () => {
  const turn = { cli: "claude" as const, agent: randomUUID(), task: randomUUID() };
  const old = await stage.run({
    ...turn,
    prompt: "first-word",
    changeCli: (cli) => (cli.state === undefined ? cli : { ...cli, state: { ...cli.state, version: () => ["echo", "0.9.0"] } }),
  });
  const unknown = await stage.run({ ...turn, prompt: "lost-word", session: { ...old.session, sessionId: randomUUID() } });
  expect(unknown.log).toMatch(/session \S+ is not known to the CLI any more \(.* by version 0\.9\.0\); starting a fresh one/);
  expect(unknown.result).toMatchObject({ exitCode: 0 });
  const next = await stage.run({ ...turn, prompt: "second-word", session: old.session });
  expect(next.result, next.log).toMatchObject({ exitCode: 0, sessionId: old.result.sessionId });
  expect(stage.reported("second-word").join()).toContain("first-word");
  const reported = `${unknown.log}${next.log}`;
  expect(reported).toMatch(/session restored \(saved \S+ by CLI version 0\.9\.0,/);
  expect(reported).toMatch(/the session was saved by CLI version 0\.9\.0 and goes on with \d/);
});

test("another mode is reported and loses nothing: back in the old one, the session goes on", async () => {
  const turn = { cli: "opencode" as const, agent: randomUUID(), task: randomUUID() };
  const kept = await stage.run({ ...turn, prompt: "kept-word" });
  expect(kept.session).toMatchObject({ stateMode: "portable" });
  const away = await stage.run({ ...turn, prompt: "away-word", session: kept.session, config: { agentDbMode: "ephemeral" } });
  expect(away.log).toMatch(/session \S+ is not resumed: this agent's sessions are not kept \(agentDbMode is ephemeral\)/);
  expect(away.result).toMatchObject({ exitCode: 0, sessionId: null });
  const back = await stage.run({ ...turn, prompt: "back-word", session: kept.session });
  expect(back.result, back.log).toMatchObject({ exitCode: 0, sessionId: kept.result.sessionId });
  expect(stage.reported("back-word").join()).toContain("kept-word");
  expect(stage.reported("back-word").join()).not.toContain("away-word");
});

test("a database that the agent's env puts elsewhere is reported, and the session is kept all the same", async () => {
  const turn = { cli: "opencode" as const, agent: randomUUID(), task: randomUUID(), env: { OPENCODE_DB: "/agent/tmp/other.db" } };
  const first = await stage.run({ ...turn, prompt: "first-word" });
  expect(first.log).toContain("set for each run, so the agent's own setting is not used: env.OPENCODE_DB");
  const next = await stage.run({ ...turn, prompt: "next-word", session: first.session });
  expect(next.result, next.log).toMatchObject({ exitCode: 0, sessionId: first.result.sessionId });
  expect(stage.reported("next-word").join()).toContain("first-word");
});

test("concurrency: two runs of one task never overlap, nor any two of the agent's with `agent`", async () => {
  const agent = randomUUID();
  const overlap = async (tasks: readonly string[], concurrency: string): Promise<number> => {
    let now = 0;
    let most = 0;
    const onLine = (line: string): void => {
      now += line.endsWith("CLI started") ? 1 : line.includes("[paperclip] CLI ended") ? -1 : 0;
      most = Math.max(most, now);
    };
    const turn = (task: string) => stage.run({ cli: "claude", agent, task, prompt: "word slow-1", config: { concurrency }, onLine });
    for (const { result } of await Promise.all(tasks.map(turn))) expect(result).toMatchObject({ exitCode: 0 });
    return most;
  };
  expect(await overlap(["same", "same"], "task")).toBe(1);
  expect(await overlap(["one", "two"], "agent")).toBe(1);
});

test("logins and settings of the operator's folder are taken into the private home, by name", async () => {
  const home = stage.bed.data;
  await mkdir(join(home, ".config/git"), { recursive: true });
  await writeFile(join(home, ".config/git/ignore"), "*.seeded\n");
  await writeFile(join(home, ".gitconfig"), "[user]\n\tname = Seeded\n\temail = seeded@example.com\n");
  await mkdir(join(home, ".claude"), { recursive: true });
  await writeFile(join(home, ".claude/settings.json"), JSON.stringify({ env: { SEEDED: "yes" } }));
  await writeFile(join(home, ".bash_history"), "not for others");
  const prompt = "bash:git config user.email; cat ~/.config/git/ignore; echo seeded-$SEEDED; ls -A ~";
  const policy = `seeds: { folder: ${home} }`;
  const { result, log } = await stage.run({ cli: "claude", agent: randomUUID(), task: "t", prompt, policy });
  expect(result).toMatchObject({ exitCode: 0 });
  expect(log).toContain(`taken over from ${home}: .claude/settings.json, .gitconfig, .config/git`);
  for (const text of ["seeded@example.com", "*.seeded", "seeded-yes"]) expect(log).toContain(text);
  expect(log).not.toContain(".bash_history");
});
