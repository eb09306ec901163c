import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createEngine, permissions } from "@paperclip-k8s/engine";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { opencode } from "../../../packages/adapter-opencode/src/agent-cli.ts";
import { type Bed, settingsFor, startBed } from "./bed.ts";

// The form's "Test" button on a real engine, cluster and CLI.

let bed: Bed;
let host: Server;
let hostUrl: string;
beforeAll(async () => {
  bed = await startBed();
  host = createServer((request, response) => response.writeHead(request.url === "/api/health" ? 200 : 404).end("{}"));
  await new Promise<void>((resolve) => host.listen(0, bed.hostAddress, resolve));
  hostUrl = `http://${bed.hostAddress}:${(host.address() as AddressInfo).port}`;
});
afterAll(async () => {
  host.close();
  await bed.stop();
});

async function press(config: Record<string, unknown> = {}, serverEnv: NodeJS.ProcessEnv = { PAPERCLIP_API_URL: hostUrl }) {
  const adapter = createAdapter(opencode, { engine: createEngine(), serverEnv: { ...TEST_POLICY, ...serverEnv } });
  const settings = {
    ...settingsFor(bed),
    model: "anthropic/claude-sonnet-5",
    env: { ANTHROPIC_API_KEY: "key-0123456789" },
    ...config,
  };
  const result = await adapter.testEnvironment({ companyId: "company-1", adapterType: opencode.type, config: settings });
  expect(JSON.stringify(result)).not.toContain("key-0123456789");
  for (const { level, hint, code } of result.checks) if (level !== "info") expect(hint, code).toMatch(/\w{3}/);
  const of = (code: string) => result.checks.find((check) => check.code === code);
  return { ...result, of, codes: result.checks.map(({ level, code }) => `${level} ${code}`) };
}

const noJobs = () => expect.poll(async () => (await bed.list("jobs")).length).toBe(0);

test("all is well: every check says so, with the CLI's version, and the probe leaves nothing", async () => {
  // A real cluster binds a new claim in its own time; a folder that is not there keeps this from starting a pod each time.
  const bound = async () => (await press({ dataPath: `${bed.data}/none` })).codes.includes("info volume_claim_found");
  while (!(await bound())) await new Promise((resolve) => setTimeout(resolve, 500));
  const before = bed.requests.length;
  const { status, codes, of, checks } = await press();
  expect(codes, JSON.stringify(checks)).toEqual([
    "info config_valid",
    "info k8s_api_reachable",
    "info k8s_permissions_granted",
    "info k8s_job_accepted",
    "info volume_claim_found",
    "info volume_writable",
    "info instance_locks_work",
    "info provider_key_found",
    "info probe_ran",
    "info volume_shared",
    "info runtime_found",
    "info cli_found",
    "info host_reachable",
  ]);
  expect(status).toBe("pass");
  expect(of("cli_found")?.message).toMatch(/\d+\.\d+\.\d+/);
  expect(of("runtime_found")?.message).toMatch(/node v\d+.*user 1000:1000|node v\d+/);
  await noJobs();
  const creates = bed.requests.slice(before).filter(({ verb, resource }) => verb === "create" && resource === "jobs");
  expect(creates.map(({ query }) => query.dryRun ?? "real")).toEqual(["All", "real"]);
});

test.each([
  ["a kubeconfig that is not there", { kubeconfig: "/nowhere/kubeconfig" }, "policy_refused"],
  ["a file that is no kubeconfig", { kubeconfig: import.meta.filename }, "k8s_kubeconfig_invalid"],
  ["a setting that is wrong", { image: "no image" }, "config_invalid"],
  ["nothing to take the image from", { image: "" }, "config_invalid"],
])("%s ends it at once", async (_, config, code) => {
  const { status, of, codes } = await press(config);
  expect(status).toBe("fail");
  expect(of(code)?.level, codes.join()).toBe("error");
  expect(of("probe_ran")).toBeUndefined();
});

test("a namespace the account knows nothing of: forbidden, and perhaps not there", async () => {
  const { codes, of } = await press({ namespace: "nowhere", kubeconfig: await bed.account(permissions) });
  expect(codes).toContain("error k8s_permission_missing");
  expect(of("k8s_permission_missing")?.hint).toContain("namespace exists");
  expect(codes).toContain("info probe_skipped");
});

test("a permission that is missing is named, and the probe skipped", async () => {
  const rules = permissions.filter(({ verb, resource }) => !(verb === "watch" && resource === "pods"));
  const { codes, of } = await press({ kubeconfig: await bed.account(rules) });
  expect(codes).toContain("error k8s_permission_missing");
  expect(of("k8s_permission_missing")).toMatchObject({
    message: expect.stringContaining("watch pods"),
    hint: expect.stringContaining('"watch" on "pods"'),
  });
  expect(codes).toContain("info probe_skipped");
});

test("an optional one costs its check, and the rest is made", async () => {
  const rules = permissions.filter(({ resource }) => resource !== "persistentvolumeclaims");
  const { status, codes, of } = await press({ kubeconfig: await bed.account(rules) });
  expect(status).toBe("warn");
  expect(of("k8s_permission_optional")?.message).toContain("get persistentvolumeclaims");
  expect(codes).toContain("info cli_found");
  expect(of("volume_claim_found")).toBeUndefined();
});

test("claims: one that is not there; the server's own folder missing", async () => {
  expect((await press({ dataClaim: "other" })).of("volume_claim_missing")).toMatchObject({
    level: "error",
    hint: expect.stringContaining("Data claim"),
  });
  const { of } = await press({ dataPath: `${bed.data}-not-mounted` });
  expect(of("volume_unwritable")).toMatchObject({ level: "error", hint: expect.stringContaining("data path") });
});

test("what the API server says about the Job is passed on", async () => {
  const { of } = await press({ nodeSelector: { "beta.kubernetes.io/os": "linux" }, dataClaim: "other" });
  expect(of("k8s_job_warning")).toMatchObject({ level: "warn", message: expect.stringContaining('use "kubernetes.io/os" instead') });
});

test("an image that is not there is named", async () => {
  const { of, codes } = await press({ image: bed.images.missing });
  expect(of("probe_image"), codes.join()).toMatchObject({ level: "error", message: expect.stringContaining(bed.images.missing) });
  await noJobs();
});

test("a CLI that is not in the image, no key, a host that pods do not reach", async () => {
  const { codes, of } = await press({ command: "no-such-cli", env: {} }, { PAPERCLIP_API_URL: `http://${bed.hostAddress}:1` });
  expect(of("cli_missing")).toMatchObject({ level: "error", message: expect.stringContaining("no-such-cli") });
  expect(codes).toContain("warn provider_key_missing");
  expect(codes).toContain("warn host_unreachable");
  expect((await press({ command: "no-such-cli" }, {})).codes).toContain("warn host_unknown");
});
