import { expect, test } from "vitest";
import { agentClaim, claimName } from "./agent-claim.ts";

const CLAIM = { prefix: "opencode-db-", env: (folder: string) => ({ DB: `${folder}/x.db` }) };
const AGENT = { id: "0b6f0f0e-94e4-4c5b-9a53-3f9f0f4f7b11", companyId: "Company 1" };
const CLI = { type: "opencode_k8s" };

test("the host's ids stand in the name as they are; of any other enough to tell it apart", () => {
  expect(claimName("opencode-db-", AGENT.id)).toBe(`opencode-db-${AGENT.id}`);
  const odd = ["Agent 1", "agent1", "AGENT1", "agent-1-", "--agent-1", "日本", "a".repeat(300)].map((id) => claimName("opencode-db-", id));
  expect(new Set(odd).size).toBe(odd.length);
  for (const name of odd) expect(name).toMatch(/^opencode-db-[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
  expect(Math.max(...odd.map((name) => name.length))).toBeLessThan(253);
});

test("labelled so that it can be found, and made only where a storage class is named", () => {
  const config = { agentDbStorageClass: "fast", agentDbStorageCapacity: "2Gi" };
  const { volume, env } = agentClaim(CLAIM, { agent: AGENT, cli: CLI, config });
  expect(volume).toEqual({
    claimName: `opencode-db-${AGENT.id}`,
    mountPath: "/agent/state",
    create: {
      storageClass: "fast",
      capacity: "2Gi",
      labels: {
        "app.kubernetes.io/managed-by": "paperclip",
        "paperclip.io/pvc-type": "agent-db",
        "paperclip.io/agent-id": AGENT.id,
        "paperclip.io/company-id": "Company-1",
        "paperclip.io/adapter-type": "opencode_k8s",
      },
    },
  });
  expect(env).toEqual({ DB: "/agent/state/x.db" });
  expect(agentClaim(CLAIM, { agent: AGENT, cli: CLI, config: { ...config, agentDbStorageClass: null } }).volume.create).toBeNull();
});
