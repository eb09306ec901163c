import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiError, createEngine, permissions, type RunOutcome } from "@paperclip-k8s/engine";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exampleRequest } from "../../../engine/src/manifest/testing/example-request.ts";
import type { EnvironmentCheck } from "../host/types.ts";
import { refusingAdapter } from "../refusing-adapter.ts";
import { ConfigError } from "../settings/config-error.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { silentReport } from "../testing/silent-report.ts";
import { openTestButton, type TestButton } from "../testing/test-button.ts";
import { TEST_POLICY } from "../testing/test-policy.ts";
import { CATALOGUE } from "./catalogue.ts";
import { apiProblem } from "./check-cluster.ts";
import { lockCheck } from "./check-locks.ts";
import { checkJob } from "./check-run.ts";
import { helloCheck } from "./probe/hello.ts";
import { podFindings } from "./probe/pod-findings.ts";
import { probeOutcome } from "./probe/probe-outcome.ts";
import { providerKey } from "./provider-key.ts";
import { testEnvironment } from "./test-environment.ts";
import { startWarningServer } from "./testing/warning-server.ts";

// Makes every check of the catalogue once: a code that nobody makes any more, or trouble without a remedy, shows here.

let button: TestButton<Pocket>;
const made: EnvironmentCheck[] = [];
beforeAll(async () => {
  button = await openTestButton(startPocket);
});
afterAll(() => button.end());

async function press(...args: Parameters<TestButton<Pocket>["press"]>): Promise<void> {
  made.push(...(await button.press(...args)).checks);
}

const noModel = (model: string, key: string) => {
  throw new ConfigError(key, `must not be ${model}`);
};

test("settings, cluster and permissions", async () => {
  const { pocket } = button;
  await press({ image: "no image" });
  const none = { ...exampleCli, settings: { own: {}, checkModel: noModel } };
  const test = { companyId: "company-1", config: { model: "m" } };
  const inPlace = { ...none, inPlace: { ownType: none.type } };
  for (const cli of [none, inPlace]) made.push(...(await testEnvironment(cli, test, { engine: createEngine(), serverEnv: {} })).checks);
  const rules = join(button.data, "rules.yaml");
  const given = readFileSync(TEST_POLICY.PAPERCLIP_K8S_POLICY, "utf8");
  writeFileSync(rules, `${given}\nagents: [{ match: { company: c-1 }, defaults: {} }, { match: { name: Atlas }, defaults: {} }]\n`);
  await press({ dataPath: "/nowhere" }, { PAPERCLIP_K8S_POLICY: rules });
  expect(made.find(({ code }) => code === "rules_untried")?.message).toMatch(/which agent it is: agents\[1\]\.$/);
  await press({ inherit: "all", serviceAccountName: "paperclip" });
  await press({ timeoutSecs: 5 }, { ACME_API_KEY: "k" });
  const nothing = pocket.createAccount("agents", []);
  await press({ kubeconfig: nothing });
  const optional = pocket.createAccount(
    "agents",
    permissions.filter(({ required }) => required),
  );
  await press({ kubeconfig: optional, dataPath: "/nowhere" });
  const fault = pocket.faults.fail({ resource: "selfsubjectaccessreviews" }, { status: 403, times: 99 });
  await press({ dataPath: "/nowhere" });
  fault.undo();
  for (const code of ["api_config", "api_auth", "api_timeout"] as const) made.push(apiProblem(new ApiError(code, "trouble")));
});

test("the shared volume", async () => {
  const { pocket, data } = button;
  const claims = {
    once: { accessModes: ["ReadWriteOnce"] },
    pod: { accessModes: ["ReadWriteOncePod"] },
    pending: { bound: false },
  };
  for (const [name, options] of Object.entries(claims)) {
    pocket.createClaim("agents", name, data, options);
    await press({ dataClaim: name, dataPath: "/nowhere" });
  }
  await press({ dataClaim: "none" });
  const fault = pocket.faults.fail({ verb: "get", resource: "persistentvolumeclaims" }, { status: 500, times: 2 });
  await press({ dataPath: "/nowhere" });
  fault.undo();
  const loop = join(data, "loop");
  symlinkSync(loop, loop);
  await press({ dataPath: loop });
});

test("locks in the instance's folder", () => {
  for (const kind of ["work", "broken", "unknown"] as const) made.push(lockCheck("/data", { kind, reason: "x" }));
});

test("claims of the agents' own", async () => {
  const { pocket } = button;
  const own = { agentDbMode: "dedicated_pvc", dataPath: "/nowhere" };
  const create = { verb: "create", resource: "persistentvolumeclaims" } as const;
  await press(own);
  await press({ ...own, agentDbStorageClass: "pocket" });
  pocket.faults.fail(create, { status: 422, message: "too large" });
  await press({ ...own, agentDbStorageClass: "none" });
  const fault = pocket.faults.fail(create, { status: 500, times: 99 });
  await press({ ...own, agentDbStorageClass: "pocket" });
  fault.undo();
});

test("the Job of a run", async () => {
  const { pocket } = button;
  const create = { verb: "create", resource: "jobs" } as const;
  await press({ namespace: "nowhere" });
  pocket.faults.fail(create, { status: 403, message: "exceeded quota" });
  await press();
  const fault = pocket.faults.fail(create, { status: 503, times: 99 });
  await press({ dataPath: "/nowhere" });
  fault.undo();
  const server = await startWarningServer("would violate PodSecurity");
  made.push(...(await checkJob(exampleRequest(), { kubeconfig: server.kubeconfig })));
  await server.stop();
});

test("a pod like a run's", () => {
  const facts = { request: exampleRequest(), reported: false, waitedMs: 40_000, lastWarning: null };
  const evidence = { node: null, output: { complete: true }, timings: { started: 1, cliOver: 2 } };
  const ended = (outcome: object, changes: object = {}) =>
    made.push(...probeOutcome({ ...outcome, evidence: { ...evidence, ...changes } } as unknown as RunOutcome, facts));
  ended({ kind: "exited", exitCode: 0 });
  ended({ kind: "exited", exitCode: 9 });
  ended({ kind: "exited", exitCode: 0 }, { output: { complete: false } });
  ended({ kind: "cancelled" });
  const runtime = `exec: "${facts.request.container.runtime[0]}": executable file not found`;
  for (const [cause, message] of Object.entries({ image: "x", "job-create-failed": "x", "runtime-missing": runtime, "no-pod": "x" }))
    ended({ kind: "never-started", cause, message });
  const findings = ["runtime", "cli", "folder:home", "folder:temp", "folder:work", "url"];
  for (const ok of [true, false])
    made.push(
      ...podFindings(
        findings.map((check) => ({ check, ok, detail: "x" })),
        { apiUrl: null, toolsNote: ok ? "x" : null },
      ),
    );
});

test("a turn with an account", () => {
  for (const text of ["hello", ""]) {
    const parser = { report: () => ({ ...silentReport, text }), fault: () => null };
    made.push(helloCheck({ kind: "exited", exitCode: 0 } as RunOutcome, parser, ""));
  }
});

test("the provider's key", () => {
  const known = { values: {}, names: new Set(["KEY"]), sources: ["Secret s"] };
  made.push(providerKey("Acme", ["KEY"], known), providerKey("Acme", ["OTHER"], known));
  made.push(providerKey("Acme", ["OTHER"], { ...known, sources: [] }));
});

test("a Node that is too old", async () => {
  const adapter = refusingAdapter(exampleCli, "the adapter example_k8s needs another Node");
  made.push(...(await adapter.testEnvironment({ companyId: "c", adapterType: exampleCli.type, config: {} })).checks);
});

test("that is the whole catalogue, and every problem has its remedy", () => {
  // A number marks a further check of the same code.
  expect([...new Set(made.map(({ code }) => code.replace(/_\d+$/, "")))].sort()).toEqual(Object.keys(CATALOGUE).sort());
  for (const { level, code, hint } of made) expect(hint ?? "", `${level} ${code}`).toMatch(level === "info" ? /^$/ : /\w{3}.*\.$/);
  for (const [code, [meaning]] of Object.entries(CATALOGUE)) expect(meaning, code).toMatch(/\w{3}/);
});
