import { checkSettings } from "@paperclip-k8s/paperclip/upgrade";
import { expect, test } from "vitest";
import { claude } from "../agent-cli.ts";

const found = (raw: Record<string, unknown>) =>
  checkSettings(claude, raw)
    .filter(({ isDefault }) => !isDefault)
    .map(({ setting, kind }) => `${setting} ${kind}`);

test("what the earlier form has saved in a plain agent goes on", () => {
  const saved = { maxTurnsPerRun: 1000, effort: "high", reattachOrphanedJobs: true, "resources.limits.memory": "4Gi", labels: "team=blue" };
  expect(found(saved)).toEqual([]);
});

test("what was ignored and acts now", () => {
  expect(found({ variant: "high", resources: { limits: { cpu: "2" } }, maxTurnsPerRun: "20" })).toEqual([
    ...["variant changed", "resources changed", "maxTurnsPerRun changed"],
  ]);
  expect(found({ effort: "low", variant: "high", agentDbMode: "dedicated_pvc", maxTurnsPerRun: -1 })).toEqual([
    ...["agentDbMode ignored", "maxTurnsPerRun ignored"],
  ]);
});
