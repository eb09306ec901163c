import { expect, test } from "vitest";
import { earlierTranscripts, projectFolder } from "./earlier-sessions.ts";

const ID = "0b8a5b0e-0000-4000-8000-000000000000";
const session = {
  ...{ sessionId: ID, cwd: "/paperclip/work.1", madeIn: null, dataPath: "/paperclip", volume: "/paperclip" },
  ...{ companyId: "company-1", agentId: "agent-1", taskKey: null, env: {}, serverEnv: {}, note: () => {} },
};

test("a transcript is looked for in the shared home, in any folder, and put where the CLI looks today", () => {
  expect(earlierTranscripts(session)).toEqual([
    {
      kind: "files",
      path: `/paperclip/.claude/projects/*/${ID}.jsonl`,
      first: ["-paperclip", "-paperclip-work-1"],
      beside: [ID],
      to: ".claude/projects/-paperclip-work-1",
    },
  ]);
});

test("the folder that the server's own variable names, which runs inherited, comes after it", () => {
  const serverEnv = { CLAUDE_CONFIG_DIR: "/paperclip/claude-config" };
  expect(earlierTranscripts({ ...session, serverEnv }).map(({ path }) => path)).toEqual([
    `/paperclip/.claude/projects/*/${ID}.jsonl`,
    `/paperclip/claude-config/projects/*/${ID}.jsonl`,
  ]);
});

test("a long folder's name is cut and gets a hash", () => {
  const [one, two] = ["a", "b"].map((end) => projectFolder(`/${"x".repeat(250)}${end}`));
  expect(one).toMatch(/^-x{199}-[0-9a-z]+$/);
  expect(one).not.toBe(two);
});
