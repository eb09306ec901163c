import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { cp, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CliName } from "../../../packages/adapters.ts";
import { type AgentRan, type Agents, openAgents } from "./agents.ts";

// Sessions as the adapters before this one left them on the shared volume: made by the real CLIs, resumed by `execute`.

let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

const HANG = 300_000;

interface Earlier {
  readonly cli: CliName;
  readonly agent: string;
  readonly task: string;
  readonly sessionId: string;
}

/** A session of the real CLI, unpacked to where an adapter before this one had its home; the host's record is as that adapter wrote it. */
async function leaveSession(cli: CliName, word: string, place: (earlier: Earlier, home: string) => Promise<void>): Promise<Earlier> {
  const made = { cli, agent: randomUUID(), task: randomUUID() };
  const first = await stage.run({ ...made, prompt: word });
  expect(first.result, first.log).toMatchObject({ exitCode: 0 });
  const earlier = { ...made, sessionId: first.result.sessionId ?? "" };
  const home = join(stage.tools, randomUUID());
  await mkdir(home);
  const [generation = ""] = (await stage.generations(made)).slice(-1);
  const { execFileSync } = await import("node:child_process");
  execFileSync("tar", ["xf", join(stage.savedFolder(made), generation), "-C", home]);
  await place(earlier, join(home, "home"));
  await rm(stage.savedFolder(made), { recursive: true });
  await rm(home, { recursive: true });
  return earlier;
}

const resume = (
  { sessionId, ...conversation }: Earlier,
  prompt: string,
  session: Record<string, unknown> | null = { sessionId },
): Promise<AgentRan> => stage.run({ ...conversation, prompt, session });

async function resumedTwice(earlier: Earlier, word: string, from: RegExp): Promise<void> {
  const second = await resume(earlier, "second-word");
  expect(second.log).toMatch(from);
  expect(second.result, second.log).toMatchObject({ exitCode: 0, sessionId: earlier.sessionId });
  expect(stage.reported("second-word").join()).toContain(word);
  expect(second.session).toMatchObject({ stateMode: "portable", stateSigned: true });
  const third = await resume(earlier, "third-word", second.session);
  expect(third.result, third.log).toMatchObject({ exitCode: 0, sessionId: earlier.sessionId });
  expect(third.log).not.toContain("earlier adapter");
  expect(stage.reported("third-word").join()).toContain("second-word");
}

test(
  "Claude Code: a transcript of the shared home goes on, from whichever folder it was made in, and is imported once",
  async () => {
    const earlier = await leaveSession("claude", "first-claude-word", async (_, home) => {
      const projects = join(home, ".claude/projects");
      const [slug = ""] = readdirSync(projects);
      await mkdir(join(stage.bed.data, ".claude/projects"), { recursive: true });
      await cp(join(projects, slug), join(stage.bed.data, ".claude/projects/-paperclip"), { recursive: true });
    });
    await resumedTwice(
      earlier,
      "first-claude-word",
      /of an earlier adapter goes on: imported from .*\/-paperclip\/.*\.jsonl \(\d+ files, \d+ bytes\)/,
    );
  },
  HANG,
);

test(
  "OpenCode: a session in the database of the shared home goes on, alone and once",
  async () => {
    const database = ".local/share/opencode/opencode.db";
    const place = async (_: Earlier, home: string) => {
      await mkdir(dirname(join(stage.bed.data, database)), { recursive: true });
      for (const suffix of ["", "-wal"]) await cp(join(home, database + suffix), join(stage.bed.data, database + suffix)).catch(() => {});
    };
    const earlier = await leaveSession("opencode", "first-opencode-word", place);
    await resumedTwice(
      earlier,
      "first-opencode-word",
      /of an earlier adapter goes on: imported from .*opencode\.db \(\d+ rows, \d+ bytes\)/,
    );
  },
  HANG,
);
