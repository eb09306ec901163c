import { expect, test } from "vitest";
import { finalLinePattern } from "../opencode/events.ts";
import { SubAgentSteps } from "./sub-agent-steps.ts";

const created = (id: string, parentID?: string) => ({ type: "session.created", properties: { info: { id, parentID } } });
const part = (sessionID: string, id: string, type: string) => ({
  type: "message.part.updated",
  properties: { part: { id, sessionID, type, reason: "stop", tokens: { input: 1 }, cost: 2 } },
});
const begin = (session: string) => part(session, `begin-${session}`, "step-start");
const finish = (session: string, id = `end-${session}`) => part(session, id, "step-finish");

/** The sessions whose steps were printed. */
function printed(events: readonly object[]): string[] {
  const steps = new SubAgentSteps();
  return events.flatMap((event) => steps.lineFor(event) ?? []).map((line) => JSON.parse(line).subAgent);
}

test.each([
  ["the run's own steps are OpenCode's to print", [created("own"), begin("own"), finish("own")], []],
  ["a child's", [created("own"), begin("own"), created("child", "own"), begin("child"), finish("child"), finish("own")], ["child"]],
  ["a child's child's", [begin("own"), created("a", "own"), begin("a"), created("b", "a"), finish("b"), finish("a")], ["b", "a"]],
  ["of a child that is resumed", [begin("own"), begin("child"), finish("child"), finish("own")], ["child"]],
  [
    "of a child that works before the run's own session",
    [created("own"), created("a", "own"), begin("a"), finish("a"), begin("own")],
    ["a"],
  ],
  ["of a session that another plugin made", [begin("own"), created("other"), finish("other")], ["other"]],
  ["each once", [begin("own"), finish("a", "1"), finish("a", "1"), finish("a", "2")], ["a", "a"]],
  ["of nobody before anybody works", [finish("a"), {}, { type: "message.part.updated" }], []],
])("%s", (_, events, sessions) => {
  expect(printed(events)).toEqual(sessions);
});

test("a line is one line, has what the step used, and is no final line", () => {
  const steps = new SubAgentSteps();
  steps.lineFor(begin("own"));
  const line = steps.lineFor(finish("a\nb"))!;
  expect(line).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(line)).toMatchObject({
    type: "step_finish",
    subAgent: "a\nb",
    part: { reason: "sub-agent: stop", tokens: { input: 1 }, cost: 2 },
  });
  expect(line).not.toMatch(new RegExp(finalLinePattern));
});
