import { expect, test } from "vitest";
import { guidedModel } from "./guided-model.ts";

const toolNames = ["Bash"];
const asked = (text: string, ...toolResults: string[]) => {
  const killed: string[] = [];
  const reply = guidedModel((pod) => killed.push(pod))({ system: "", userTexts: [text], toolNames, toolResults, stepLimitReached: false });
  return { reply, killed };
};

test("any words make the model ask its pod, and do what that names as next", () => {
  expect(asked("Please list the files; think about it").reply).toMatchObject({ tool: "Bash", input: { command: "do-task" } });
  expect(asked("x", "TRY-1: work\nplan: do-task minute 1").reply).toMatchObject({ input: { command: "do-task minute 1" } });
  const third = asked("x", "step 2 of 18: load 1.00").reply;
  expect(third).toMatchObject({ input: { command: "do-task minute 3", description: "Step 3 of 18" } });
  expect(asked("x", "step 18 of 18: load 1.00\nThe issue is closed.").reply).toMatchObject({ kind: "text" });
  expect(asked("x", "files", "Done that.\nThe issue is closed.").reply).toEqual({ kind: "text", text: "Done that.\nThe issue is closed." });
});

test("a pod that asks for it runs out of memory", () => {
  expect(asked("x", "plan: use too much memory in agent-7").killed).toEqual(["agent-7"]);
  expect(asked("x", "plan: sleep 60").killed).toEqual([]);
});

test.each(["bash:ls", "unauthorized", "slow-3", "quota", "say:hello"])("%s is left to the usual script", (word) => {
  expect(asked(`Do it\n${word}`).reply).toBeNull();
});
