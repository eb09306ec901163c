import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CliName } from "../../../packages/adapters.ts";
import { type AgentRan, type Agents, openAgents } from "./agents.ts";

// Tasks of one agent at the same time, real CLIs: every session has its own turns and no other's.

const TASKS = process.env.LONG ? 10 : 3;
let stage: Agents;
beforeAll(async () => {
  stage = await openAgents();
});
afterAll(() => stage?.stop());

test.each<CliName>(["opencode", "claude"])(
  "%s: tasks of one agent run at once, three turns each, and every session remembers its own turns only",
  async (cli) => {
    const agent = randomUUID();
    const words = Array.from({ length: TASKS }, (_, index) => `word-${index}-${randomUUID().slice(0, 8)}`);
    let now = 0;
    let most = 0;
    const count = (line: string): void => {
      now += line.endsWith("CLI started") ? 1 : line.includes("[paperclip] CLI ended") ? -1 : 0;
      most = Math.max(most, now);
    };
    const converse = async (word: string): Promise<AgentRan[]> => {
      const common = { cli, agent, task: randomUUID(), onLine: count };
      const first = await stage.run({ ...common, prompt: `${word} one slow-8` });
      const second = await stage.run({ ...common, prompt: `${word} two`, session: first.session });
      const third = await stage.run({ ...common, prompt: `${word} three`, session: second.session });
      return [first, second, third];
    };
    const all = await Promise.all(words.map(converse));
    for (const [index, [first, second, third]] of all.entries()) {
      const word = words[index] ?? "";
      for (const turned of [first, second, third]) expect(turned?.result, turned?.log).toMatchObject({ exitCode: 0 });
      expect(third?.result.sessionId).toBe(first?.result.sessionId);
      expect(third?.log).toMatch(/session restored \(saved \S+Z( by CLI version \d[^,]*)?, [\d.]+ [kM]B, \d+ ms\)/);
      const reported = stage.reported(`${word} three`).join("\n");
      for (const turn of ["one", "two", "three"]) expect(reported).toContain(`${word} ${turn}`);
      for (const other of words.filter((each) => each !== word)) expect(reported).not.toContain(other);
    }
    expect(most).toBe(TASKS);
  },
);
