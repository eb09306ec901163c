import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { contextNamespace } from "@paperclip-k8s/engine";
import { expect, onTestFinished, test } from "vitest";
import { clusterOf, namespacesOf } from "./access.ts";

const NONE = { kubeconfig: null, context: null, namespaces: [] };

function kubeconfigs(...contexts: { name: string; namespace: string; current?: boolean }[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "kubeconfigs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return contexts.map(({ name, namespace, current = false }, index) => {
    const file = join(folder, `${index}.json`);
    const config = {
      clusters: [{ name, cluster: { server: `http://127.0.0.1:${index + 1}` } }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name, namespace } }],
      ...(current ? { "current-context": name } : {}),
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  });
}

test("KUBECONFIG may name several files: all their contexts are known, of two with one name the first counts", async () => {
  const files = kubeconfigs(
    { name: "one", namespace: "n-1" },
    { name: "two", namespace: "n-2", current: true },
    { name: "one", namespace: "n-3", current: true },
  );
  const env = { KUBECONFIG: [...files, join(tmpdir(), "missing"), ""].join(delimiter) };
  const namespaces = (context: string | null) => namespacesOf(NONE, clusterOf({ ...NONE, context }, env), env);
  expect(await namespaces("one")).toEqual(["n-1"]);
  expect(await namespaces("two")).toEqual(["n-2"]);
  expect(await namespaces(null)).toEqual(["n-2"]);
  await expect(namespaces("three")).rejects.toThrow('there is no context "three"');
});

test("a file that was named comes before KUBECONFIG, the pod's own account before the home's file", async () => {
  const [first = "", second = ""] = kubeconfigs(
    { name: "a", namespace: "n-1", current: true },
    { name: "b", namespace: "n-2", current: true },
  );
  expect(await contextNamespace(clusterOf({ ...NONE, kubeconfig: second }, { KUBECONFIG: first }))).toBe("n-2");
  expect(clusterOf(NONE, { KUBERNETES_SERVICE_HOST: "10.0.0.1" })).toEqual({ kubeconfig: null });
  expect(clusterOf(NONE, {}).kubeconfig).toMatch(/\.kube.config$/);
});

test("a policy's namespace of the agents comes before the pod's and the context's, and -n before both", async () => {
  const [file = ""] = kubeconfigs({ name: "a", namespace: "n-1", current: true });
  const policy = join(file, "../policy.yaml");
  writeFileSync(policy, "defaults: { namespace: agents }");
  const env = { KUBECONFIG: file, PAPERCLIP_K8S_POLICY: policy };
  expect(await namespacesOf(NONE, clusterOf(NONE, env), env)).toEqual(["agents"]);
  writeFileSync(
    policy,
    "agents: [{ match: { company: acme }, defaults: { namespace: acme } }, { match: { role: qa }, defaults: { tools: never } }]",
  );
  expect(await namespacesOf(NONE, clusterOf(NONE, env), env)).toEqual(["n-1", "acme"]);
  expect(await namespacesOf({ ...NONE, namespaces: ["other"] }, clusterOf(NONE, env), env)).toEqual(["other"]);
});
