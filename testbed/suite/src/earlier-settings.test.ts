import { mkdir } from "node:fs/promises";
import { createEngine } from "@paperclip-k8s/engine";
import { type AgentCli, createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, settingsFor, startBed } from "./bed.ts";

// An agent whose stored settings the earlier adapters tolerated: its run works, and its log says what has no effect.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const TELL = `console.log(JSON.stringify({ args: process.argv.slice(1), env: process.env, cwd: process.cwd() }))`;

function tellingCli(lines: string[]): AgentCli {
  return {
    ...exampleCli,
    state: {
      parts: [{ kind: "files", path: ".example" }],
      claim: { prefix: "db-", env: () => ({}) },
      version: () => ["node", "--version"],
      seeds: [],
    },
    plan: ({ config }) => ({ argv: ["node", "-e", TELL, "--", ...config.extraArgs], plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser: () => ({
      push(text) {
        lines.push(text);
        return [{ kind: "other", text }];
      },
      report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
      fault: () => null,
    }),
  };
}

const TOLERATED = {
  agentDbMode: "workspace_subpath",
  nodeSelector: "gpu\n# none",
  labels: "team=blue\nno label",
  tolerations: "gpu=true:NoSchedule",
  timeoutSec: -1,
  graceSec: 1.5,
  ttlSecondsAfterFinished: "7200",
  resources: "8Gi",
  "resources.limits.memory": "a lot",
  extraArgs: ["--turns", 5, "--verbose"],
  cwd: "work/acme",
  serviceAccountName: { name: "runner" },
  retainJobs: "no",
  compactThreshold: 1000,
};

const EXPECTED = [
  /^"compactThreshold" is not a setting of this adapter and has no effect/,
  /^Session storage \(agentDbMode\): is ignored: must be one of .*, not "workspace_subpath"; it counts as not set \(default: portable\)$/,
  /^Node selector \(nodeSelector\): is ignored: line 1 must be key=value, not "gpu"; it counts as not set \(default: the server pod's\)$/,
  /^Labels: left out: line 2 must be key=value, not "no label"$/,
  /^Tolerations: is ignored: must be a list of tolerations or its JSON text, not a string; it counts as not set/,
  /^Timeout \(sec\) \(timeoutSec\): is ignored: must be a whole number .*, not -1; it counts as not set \(default: 0 = none\)$/,
  /^Interrupt grace period \(sec\) \(graceSec\): 1.5 is not a whole number: 2 is used$/,
  /^[rR]esources: is ignored: must be an object, not a string; /,
  /^Memory limit \(resources.limits.memory\): is ignored: must be bytes such as .*, not "a lot"; it counts as not set \(default: 8Gi\)$/,
  /^Extra args \(extraArgs\): must be a list of texts; left out: item 2 \(a number\)$/,
  /^[cC]wd: is ignored: must be an absolute path; it counts as not set \(default: the agent's own folder\)$/,
  /^Service account \(serviceAccountName\): is ignored: must be text, not an object; it counts as not set \(default: none\)$/,
  /^Retain Jobs \(retainJobs\): is ignored: must be true or false, not "no"; it counts as not set \(default: false\)$/,
];

test("its run works, its log says each thing once, and so does the Test button", async () => {
  const workspace = `${bed.data}/instances/default/workspaces/agent-1/acme`;
  await mkdir(workspace, { recursive: true });
  const lines: string[] = [];
  const serverEnv = { ...TEST_POLICY, PAPERCLIP_HOME: bed.data };
  const adapter = createAdapter(tellingCli(lines), { engine: createEngine(), serverEnv });
  const config = { ...settingsFor(bed), ...TOLERATED, env: { "WITH-DASH": "a", "with.dot": "b", NUMBER: 5 } };
  const { ctx, log } = hostContext({
    agent: "agent-1",
    config,
    context: { paperclipWorkspace: { cwd: workspace, source: "project_primary" } },
  });
  const result = await adapter.execute(ctx);
  expect(result, log()).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
    args: ["--turns", "--verbose"],
    env: { "WITH-DASH": "a", "with.dot": "b" },
    cwd: workspace,
  });

  const ofEnv = /^Environment variables \(env\): values must be texts; left out: NUMBER \(a number\)$/;
  const warnings = log()
    .split("\n")
    .flatMap((line) => /^stderr: \[paperclip\] (.*)$/.exec(line)?.[1] ?? []);
  const tested = await adapter.testEnvironment({ companyId: "company-1", adapterType: exampleCli.type, config });
  const shown = tested.checks.filter(({ code }) => code.startsWith("config_warning")).map(({ message }) => message.replace(/\.$/, ""));
  for (const expected of [...EXPECTED, ofEnv])
    for (const texts of [warnings, shown])
      expect(
        texts.filter((text) => expected.test(text)),
        `${expected} in\n${texts.join("\n")}`,
      ).toHaveLength(1);
  expect(tested.checks.filter(({ level }) => level === "error")).toEqual([]);
  expect(await adapter.listSkills({ adapterType: exampleCli.type, config })).toMatchObject({
    warnings: [],
  });
});
