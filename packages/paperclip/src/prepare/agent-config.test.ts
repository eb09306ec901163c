import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { inPlaceOf } from "../built-in/in-place.ts";
import { execute } from "../execute.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { hostContext } from "../testing/host-context.ts";
import { checkedConfig } from "./agent-config.ts";

// A whole run whose settings the policy does not allow: it is refused, and the cluster is not asked for anything.

let pocket: Pocket;
beforeAll(async () => {
  pocket = await startPocket({ images: {} });
  pocket.createNamespace("agents");
});
afterAll(() => pocket.stop());

async function run(config: Record<string, unknown>, serverEnv: NodeJS.ProcessEnv = {}) {
  const { ctx, log } = hostContext({ config });
  const result = await execute(exampleCli, ctx, { engine: createEngine(), serverEnv });
  return { ...result, log: log() };
}

test("without a policy a server outside a cluster is refused everything that would lead somewhere, in one message", async () => {
  const settings = {
    kubeconfig: pocket.kubeconfig,
    namespace: "agents",
    image: "a",
    dataClaim: "data",
    dataPath: "/elsewhere",
    inherit: "all",
  };
  const before = pocket.requests.length;
  const { errorCode, errorMessage } = await run(settings);
  expect(errorCode).toBe("configuration_incomplete");
  expect(errorMessage?.split("\n").map((line) => line.split(":")[0])).toEqual([
    "Kubeconfig",
    "Namespace",
    "Data path (dataPath)",
    "Inherit from the server (inherit)",
  ]);
  expect(pocket.requests.length).toBe(before);
});

test("the server's own kubeconfig is allowed, and the namespace of its context; a claim of another name is not", async () => {
  const settings = { kubeconfig: pocket.kubeconfig, image: "a", dataClaim: "postgres", nodeSelector: { "kubernetes.io/hostname": "n1" } };
  const { errorCode, errorMessage } = await run(settings, { KUBECONFIG: pocket.kubeconfig });
  expect(errorCode).toBe("configuration_incomplete");
  expect(errorMessage).toContain('Data claim (dataClaim): "postgres" is not allowed by the operator\'s policy');
  expect(errorMessage).toContain('Node selector (nodeSelector): "kubernetes.io/hostname=n1" is not allowed');
});

test("a policy that cannot be read stops the run before its settings are looked at", async () => {
  const { errorCode, errorMessage } = await run({ image: "no image" }, { PAPERCLIP_K8S_POLICY: "/nowhere/policy.yaml" });
  expect(errorCode).toBe("configuration_incomplete");
  expect(errorMessage).toBe(
    "PAPERCLIP_K8S_POLICY: the operator's policy /nowhere/policy.yaml cannot be used, so no run is started: there is no such file",
  );
});

test("the log of a run that misses a setting says which key is none", async () => {
  const { errorMessage, log } = await run({ imgae: "a:1", kubeconfig: pocket.kubeconfig }, { KUBECONFIG: pocket.kubeconfig });
  expect(errorMessage).toMatch(/^Namespace, Image, Data claim \(dataClaim\): must be set/);
  expect(log).toContain('"imgae" is not a setting of this adapter and has no effect; did you mean Image?');
});

test("an account's variables need no policy, if the host has prepared the account: the mark alone may be an agent's own", async () => {
  const key = "ACME_ACCOUNT_KEY";
  const delivery = "environment" as const;
  const builtIn = { type: "example_local", settings: [], accountVariables: [key], runtimeToolDelivery: delivery, sessions: () => [] };
  const cli = inPlaceOf({ ...exampleCli, builtIn });
  const home = mkdtempSync(join(tmpdir(), "paperclip-ai-company-"));
  const folder = mkdtempSync(join(tmpdir(), "policy-"));
  onTestFinished(() => {
    for (const each of [home, folder]) rmSync(each, { recursive: true });
  });
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, "allow: { environment: [FOO_*] }\ndefaults: { namespace: agents, image: a, dataClaim: data }\n");
  const check = (HOME: string) => {
    const raw = { env: { HOME, [key]: "k" }, managedAiConnection: { method: "api_key" } };
    return checkedConfig(cli, raw, { PAPERCLIP_K8S_POLICY: policy, KUBECONFIG: pocket.kubeconfig });
  };
  expect((await check(home)).config.env).toEqual({ [key]: "k" });
  await expect(check(`${home}-not-there`)).rejects.toThrow(key);
});
