import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, permissions } from "@paperclip-k8s/engine";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inPlaceOf } from "../built-in/in-place.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { silentReport } from "../testing/silent-report.ts";
import { openTestButton, type TestButton } from "../testing/test-button.ts";
import { testEnvironment } from "./test-environment.ts";

// Troubles of the cluster that only the embedded one can have on demand; testbed/suite has the rest, with the real CLI.

let button: TestButton<Pocket>;
let pocket: Pocket;
let data: string;
beforeAll(async () => {
  button = await openTestButton(startPocket);
  ({ pocket, data } = button);
});
afterAll(() => button.end());

const press: TestButton<Pocket>["press"] = (...args) => button.press(...args);
const changedConfig: TestButton<Pocket>["changedConfig"] = (...args) => button.changedConfig(...args);

test("an API server that is not there, and one that refuses the token", async () => {
  const unreachable = await press({ kubeconfig: changedConfig(/http:[^"]+/, "http://127.0.0.1:1") });
  expect(unreachable.codes).toEqual(["error k8s_api_unreachable"]);
  expect(unreachable.of("k8s_api_unreachable")).toMatchObject({
    message: expect.stringContaining("ECONNREFUSED"),
    hint: expect.stringContaining("kubeconfig"),
  });
  expect((await press({ kubeconfig: changedConfig(/"token": "[^"]+"/, '"token": "stale"') })).codes).toEqual([
    "error k8s_credentials_refused",
  ]);
});

// It takes its eight seconds: two tries of four.
test.runIf(process.env.LONG)("an API server that does not answer is given up", async () => {
  const fault = pocket.faults.hang({ resource: "selfsubjectaccessreviews" }, { times: 99 });
  expect((await press()).codes).toEqual(["error k8s_api_unreachable"]);
  fault.undo();
});

test("a remote environment of the host is named", async () => {
  const remote = { companyId: "c", config: {}, executionTarget: { kind: "remote" }, environmentName: "Build farm" };
  const { checks } = await testEnvironment(exampleCli, remote, { engine: createEngine(), serverEnv: {} });
  expect(checks.map(({ message }) => message)).toEqual([expect.stringContaining('in the environment "Build farm"')]);
});

test("a namespace that is not there, for an account that may know", async () => {
  const { status, codes, of } = await press({ namespace: "nowhere" });
  expect(status).toBe("fail");
  expect(of("k8s_namespace_missing")).toMatchObject({
    message: "There is no namespace nowhere.",
    hint: expect.stringContaining("namespace"),
  });
  expect(codes).toContain("info probe_skipped");
});

test.each([
  ["ReadWriteOnce", { accessModes: ["ReadWriteOnce"] }, "warn volume_claim_single_node"],
  ["ReadWriteOncePod", { accessModes: ["ReadWriteOncePod"] }, "error volume_claim_single_pod"],
  ["not bound", { bound: false }, "warn volume_claim_pending"],
])("a claim that is %s", async (name, options, wanted) => {
  const claim = `claim-${name.toLowerCase().replaceAll(" ", "-")}`;
  pocket.createClaim("agents", claim, data, options);
  // Another error keeps the probe, which is not what this is about, from being made.
  expect((await press({ dataClaim: claim, dataPath: `${data}/none` })).codes).toContain(wanted);
});

test("a volume that cannot be looked at is named as such, not as a wrong setting", async () => {
  const loop = join(data, "loop");
  symlinkSync(loop, loop);
  const { codes, of } = await press({ dataPath: loop });
  expect(codes).toEqual(["info k8s_api_reachable", "error volume_unusable"]);
  expect(of("volume_unusable")).toMatchObject({ message: expect.stringContaining(loop), hint: expect.stringContaining("mount") });
});

test("an agent's own instructions are no reason for a warning: the test knows no agent", async () => {
  const folder = join(data, "instances/default/companies/company-1/agents/agent-1/instructions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "AGENTS.md"), "Be kind.");
  // Another error keeps the probe from being made.
  const { of } = await press({ namespace: "nowhere", instructionsFilePath: join(folder, "AGENTS.md") });
  expect(of("config_warning")).toBeUndefined();
  expect(of("policy_refused")).toBeUndefined();
  expect(of("k8s_namespace_missing")).toBeDefined();
});

test("a cluster that does not answer access reviews: a warning, and the probe shows it", async () => {
  const fault = pocket.faults.fail({ resource: "selfsubjectaccessreviews" }, { status: 403, times: 99 });
  const { status, codes } = await press();
  fault.undo();
  expect(status).toBe("warn");
  expect(codes).toContain("warn k8s_permissions_unknown");
  expect(codes).toContain("info probe_ran");
});

test("a quota's refusal of the Job is shown in its own words", async () => {
  const message = 'jobs.batch "x" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=5';
  pocket.faults.fail({ verb: "create", resource: "jobs" }, { status: 403, message });
  const { of, codes } = await press();
  expect(of("k8s_job_refused"), codes.join()).toMatchObject({ level: "error", message: expect.stringContaining("exceeded quota") });
});

test("a pod nobody makes is explained by the cluster's own words", async () => {
  const fault = pocket.faults.noPods("service-account");
  const { status, checks } = await press();
  fault.undo();
  expect(status).toBe("fail");
  expect(checks.find(({ level }) => level === "error")?.message).toContain('serviceaccount "default" not found');
  await expect.poll(() => pocket.list("jobs", "agents").length).toBe(0);
});

test("in a pod of the cluster: what is unset comes from the server's pod, with the permissions of its account", async () => {
  const kubeconfig = pocket.createAccount("agents", permissions);
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  const container = { name: "paperclip", image: "agent:1", command: ["sleep", "60"], volumeMounts: [{ name: "data", mountPath: data }] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "server-0" }, spec: { volumes, containers: [container] } };
  await fetch(`${pocket.url}/api/v1/namespaces/agents/pods`, {
    method: "POST",
    headers: { authorization: `Bearer ${pocket.token}`, "content-type": "application/json" },
    body: JSON.stringify(pod),
  });
  const unset = { kubeconfig, namespace: "", image: "", dataClaim: "" };
  const { codes, of } = await press(unset, { POD_NAME: "server-0", POD_NAMESPACE: "agents" });
  expect(of("config_valid")?.message).toBe(`Agents run as agent:1 in namespace agents, with claim data at ${data}.`);
  expect(codes).toContain("info k8s_permissions_granted");
  expect(codes).toContain("info probe_ran");
  const mine = pocket.requests.filter(({ account }) => account?.startsWith("system:serviceaccount:"));
  expect(mine.filter(({ status }) => status === 403)).toEqual([]);
});

/** Repeats its prompt after the account's key; what would hide it, and the host's folders, would be before it. */
const TURN = `const { HOME, ACME_API_KEY, ACME_HOME = "", ACME_TOKEN } = process.env;
  process.stdin.once("data", (text) => console.log((HOME === "/tmp/ai-1" ? HOME : "") + ACME_HOME + ACME_API_KEY + ACME_TOKEN + text))`;

test.each([
  ["subscription", "t-", ["info hello_probe_passed"]],
  ["subscription", "", ["error hello_probe_failed"]],
  ["api_key", "t-", []],
])("an account of the host's with a %s and the token '%s': a turn of the CLI is tried = %j", async (method, token, wanted) => {
  const builtIn = {
    type: "example_local",
    settings: [],
    accountVariables: ["ACME_TOKEN"],
    runtimeToolDelivery: "environment",
    sessions: () => [],
  } as const;
  const cli = inPlaceOf({
    ...exampleCli,
    builtIn,
    plan: () => ({ argv: ["node", "-e", TURN], plainEnv: {}, secretEnv: {}, notes: [] }),
    createParser: () => {
      let text = "";
      const push = (line: string) => {
        text = line === "t-Respond with hello." ? line : "";
        return [];
      };
      return { push, report: () => ({ ...silentReport, text }), fault: () => null };
    },
  });
  const env = { HOME: "/tmp/ai-1", ACME_HOME: "/tmp/ai-1/provider", ACME_TOKEN: token, ACME_API_KEY: "" };
  const { codes, of } = await press({ env, managedAiConnection: { method } }, {}, cli);
  expect(codes.filter((code) => code.includes("hello"))).toEqual(wanted);
  expect(of("config_warning")?.message).toBeUndefined();
  await expect.poll(() => pocket.list("jobs", "agents").length).toBe(0);
});
