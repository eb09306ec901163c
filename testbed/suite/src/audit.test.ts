import { createEngine, findOwnPod, permissions } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, type RunOptions, startRun } from "./run.ts";

// No request outside the table is ever made, and no row of it is without use: by the API server's own record of a full set of runs.

let bed: Bed;
beforeAll(async () => {
  const made = await startBed();
  // On either cluster: what is not listed is refused.
  bed = { ...made, kubeconfig: await made.account(permissions) };
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

const keyed = (options: RunOptions): RunOptions => ({
  ...options,
  change: (request) => ({ ...request, exclusive: "k", name: { prefix: "suite-", parts: ["k"], identity: "k" } }),
});
const ENDLESS = `console.log("on"); setInterval(() => {}, 1000)`;

async function plainAndKeyed(): Promise<void> {
  const { script, release } = gatedScript(bed);
  const first = startRun(bed, keyed({ script }));
  await first.saw("on\n");
  const second = startRun(bed, keyed({ script: "" }));
  await expect.poll(() => second.status.some(({ text }) => text.startsWith("waiting for Job"))).toBe(true);
  await release();
  for (const run of [first, second]) expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
}

async function cancelled(): Promise<void> {
  const run = startRun(bed, { script: ENDLESS });
  await run.saw("on\n");
  run.cancel();
  expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
}

async function neverStarted(): Promise<void> {
  const change: RunOptions["change"] = (request) => ({ ...request, container: { ...request.container, image: bed.images.missing } });
  const run = startRun(bed, { change, engine: { timeouts: { events: 200, imagePull: 3000 } } });
  expect((await run.done).outcome).toMatchObject({ kind: "never-started", cause: "image" });
}

async function takenOver(): Promise<void> {
  const change: RunOptions["change"] = (request) => ({ ...request, name: { prefix: "suite-", parts: ["t"], identity: "t" } });
  const options: RunOptions = { script: ENDLESS, change, onLockConflict: async () => ({ kind: "adopt" }) };
  const first = startRun(bed, options);
  await first.saw("on\n");
  const second = startRun(bed, options);
  expect((await first.done).outcome).toMatchObject({ kind: "superseded" });
  await expect.poll(() => bed.requests.some(({ verb, resource }) => verb === "patch" && resource === "pods")).toBe(true);
  second.cancel();
  expect((await second.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
}

async function tested(): Promise<void> {
  const adapter = createAdapter(opencode, { engine: createEngine(), serverEnv: TEST_POLICY });
  const { kubeconfig, namespace, images, data: dataPath } = bed;
  const own = { agentDbMode: "dedicated_pvc", agentDbStorageClass: await bed.addStorageClass(0) };
  const config = { kubeconfig, namespace, image: images.agent, dataClaim: "data", dataPath, ...own };
  const { checks } = await adapter.testEnvironment({ companyId: "company-1", adapterType: opencode.type, config });
  expect(
    checks.map(({ code }) => code),
    JSON.stringify(checks),
  ).toEqual(expect.arrayContaining(["agent_claim_accepted", "storage_class_found", "probe_ran"]));
}

test("what runs, cancels, failures, takeovers and the test of the environment ask for is the table, row for row", async () => {
  const env = { POD_NAME: "server-0", POD_NAMESPACE: bed.namespace };
  await findOwnPod({ kubeconfig: bed.kubeconfig }, { env, containers: [] });
  await Promise.all([plainAndKeyed(), cancelled(), neverStarted(), takenOver(), tested()]);
  const made = new Set(
    bed.requests.map(({ verb, resource, subresource }) => `${verb} ${resource}${subresource === null ? "" : `/${subresource}`}`),
  );
  // Asked of a server that has been quiet for a while; everybody may.
  made.delete("other version");
  const table = permissions.map(({ verb, resource }) => `${verb} ${resource}`);
  expect(bed.requests.filter(({ status }) => status === 403)).toEqual([]);
  expect([...made].sort()).toEqual([...table, "create selfsubjectaccessreviews"].sort());
});
