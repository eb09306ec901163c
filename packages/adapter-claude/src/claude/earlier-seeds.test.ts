import { expect, test } from "vitest";
import { withoutEntries } from "../../../runner/src/seed/leave-out.ts";
import { claude } from "../agent-cli.ts";
import { earlierHooks } from "./earlier-seeds.ts";

const without = (settings: object) => JSON.parse(withoutEntries(JSON.stringify(settings), earlierHooks).text ?? "null");
const hook = (command: string) => ({ matcher: ".*", hooks: [{ type: "command", command }] });

test("the hook of an earlier adapter, whose script is gone, is not copied into a run's home", () => {
  const settings = { model: "opus", hooks: { PostToolUse: [hook("node /tmp/.rtk-filter.js")] } };
  expect(without(settings)).toEqual({ model: "opus" });
  expect(claude.state?.seeds.find(({ path }) => path === ".claude/settings.json")?.without).toBe(earlierHooks);
});

test("hooks of a person's own stay", () => {
  expect(without({ hooks: { PostToolUse: [hook("node /tmp/mine.js")], Stop: [hook("true")] } })).toBeNull();
  const both = { hooks: { PostToolUse: [hook("true"), hook("node /tmp/.rtk-filter.js")] } };
  expect(without(both)).toEqual({ hooks: { PostToolUse: [hook("true")] } });
});
