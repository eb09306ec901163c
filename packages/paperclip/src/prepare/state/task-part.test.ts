import { expect, test } from "vitest";
import { taskPart } from "./kept-state.ts";

const ctx = (taskKey: string | null, context: Record<string, unknown> = {}) => ({
  runtime: { sessionId: null, sessionParams: null, sessionDisplayId: null, taskKey },
  context,
});

test("the host's key, else the task, else the issue, else none", () => {
  expect(taskPart(ctx("key-1", { taskId: "task-1" }))).toBe("key-1");
  expect(taskPart(ctx(null, { taskId: "task-1", issueId: "issue-1" }))).toBe("task-1");
  expect(taskPart(ctx(" ", { issueId: "issue-1" }))).toBe("issue-1");
  expect(taskPart(ctx(null))).toBe("no-task");
});

test("whatever the key is, its part is safe in a path and differs from every other's", () => {
  const keys = ["__heartbeat__", "heartbeat", "../../etc", "a/b", "a b", "ä", "..", "x".repeat(101), "x".repeat(102)];
  const parts = keys.map((key) => taskPart(ctx(key)));
  for (const part of parts) expect(part).toMatch(/^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/);
  expect(new Set(parts).size).toBe(keys.length);
  expect(parts[0]).toMatch(/^heartbeat-[0-9a-f]{12}$/);
});
