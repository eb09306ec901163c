import { checkSettings } from "@paperclip-k8s/paperclip/upgrade";
import { expect, test } from "vitest";
import { opencode } from "../agent-cli.ts";

const found = (raw: Record<string, unknown>) =>
  checkSettings(opencode, raw)
    .filter(({ isDefault }) => !isDefault)
    .map(({ setting, kind }) => `${setting} ${kind}`);

test("what the earlier form has saved in a plain agent", () => {
  const saved = {
    model: "anthropic/claude-sonnet-5",
    variant: "",
    dangerouslySkipPermissions: true,
    agentDbMode: "dedicated_pvc",
    agentDbStorageCapacity: "1Gi",
    imagePullPolicy: "IfNotPresent",
    ttlSecondsAfterFinished: 300,
    retainJobs: false,
    reattachOrphanedJobs: false,
    enableDocker: false,
    envGuardPlugin: false,
    compactThreshold: 0,
    env: { OPENAI_API_KEY: { type: "secret_ref", secretId: "s" }, TEXT: { type: "plain", value: "x" } },
  };
  expect(found(saved)).toEqual(["ttlSecondsAfterFinished changed", "reattachOrphanedJobs changed"]);
});

test("what an agent of each of them may have besides", () => {
  const raw = {
    agentDbMode: "workspace_subpath",
    effort: "high",
    "resources.limits.memory": "16Gi",
    resumeLastSession: false,
    compactThreshold: 50_000,
    enableDocker: true,
    mcpServers: { git: {} },
    providers: { openai: { accounts: ["a"] } },
    isolation: { mode: "isolated" },
    workspaceVolumeClaim: "other",
    secretRef: "s",
    command: "/opt/opencode",
    env: { PAPERCLIP_RUN_ID: "mine", "MY-KEY": "x" },
  };
  expect(found(raw)).toEqual([
    ...["command changed", "env changed", "effort changed", "resources.limits.memory changed", "resumeLastSession removed"],
    ...["compactThreshold removed", "enableDocker removed", "mcpServers removed", "providers removed", "isolation removed"],
    ...["workspaceVolumeClaim removed", "secretRef removed", "agentDbMode ignored"],
  ]);
});

test("defaults that are others now are shown for agents that have not set them", () => {
  const unset = checkSettings(opencode, {}).map(({ setting, kind, isDefault }) => [setting, kind, isDefault]);
  expect(unset).toEqual(
    ["inherit", "concurrency", "nodeSelector", "tolerations", "agentDbMode"].map((setting) => [setting, "changed", true]),
  );
  expect(found({ "resources.limits.memory": "", effort: "", resources: { limits: { memory: "8Gi" } } })).toEqual([]);
});
