import { createEngine } from "@paperclip-k8s/engine";
import { type AgentCli, createAdapter } from "@paperclip-k8s/paperclip";
import { type HostCall, hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, settingsFor, startBed } from "./bed.ts";
import { bedPolicy } from "./bed-policy.ts";

// Agents without any setting for Kubernetes: all of it is the policy's, and one of them gets more than the others.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const cli: AgentCli = {
  ...exampleCli,
  state: undefined,
  plan: () => ({ argv: ["node", "-e", ""], plainEnv: {}, secretEnv: {}, notes: [] }),
  createParser: () => ({ push: () => [], report: () => ({ ...silentReport, finished: true, events: 1 }), fault: () => null }),
};

/** The Job stays, so that it can be looked at. */
async function run(call: HostCall) {
  const memory = (limit: string) => ({ resources: { requests: { memory: "64Mi" }, limits: { memory: limit } } });
  const defaults = { ...settingsFor(bed), ...memory("128Mi"), retainJobs: true };
  const agents = [
    { match: { id: "agent-7" }, defaults: { ...memory("512Mi"), nodeSelector: { "kubernetes.io/os": "linux" } } },
    { match: { role: "ceo" }, defaults: { ...memory("256Mi"), serviceAccountName: "paperclip" } },
  ];
  const serverEnv = bedPolicy(bed.data, `defaults: ${JSON.stringify(defaults)}\nagents: ${JSON.stringify(agents)}`);
  const { ctx } = hostContext(call);
  const { exitCode, errorMessage } = await createAdapter(cli, { engine: createEngine(), serverEnv }).execute(ctx);
  const job = (await bed.list("jobs")).find(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === ctx.runId);
  const pod = (job?.spec as { template: { spec: PodSpec } } | undefined)?.template.spec;
  return { exitCode, errorMessage, memory: pod?.containers[0]?.resources.limits.memory, nodeSelector: pod?.nodeSelector };
}

interface PodSpec {
  readonly containers: readonly { readonly resources: { readonly limits: { readonly memory: string } } }[];
  readonly nodeSelector?: object;
}

test("one agent's Job has more memory by the policy, the others' have what the policy has for all", async () => {
  expect(await run({ agent: "agent-7" })).toMatchObject({ exitCode: 0, memory: "512Mi", nodeSelector: { "kubernetes.io/os": "linux" } });
  expect(await run({ agent: "agent-8" })).toMatchObject({ exitCode: 0, memory: "128Mi", nodeSelector: undefined });
});

test("an agent that has given itself a role gets nothing by it that it may not ask for", async () => {
  const agent = { id: "agent-8", companyId: "company-1", name: "Climber", role: "ceo" };
  const { errorMessage, memory } = await run({ change: { agent } });
  expect(errorMessage).toMatch(/^Service account \(serviceAccountName\): "paperclip" is not allowed by the operator's policy \(/);
  expect(memory).toBeUndefined();
});
