import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formSchema } from "../settings/form.ts";
import { exampleCli } from "../testing/example-cli.ts";
import { factsOf, formFacts } from "./form-facts.ts";
import { EMPTY_TEMPLATE } from "./pod-template.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";

const IN_POD = { inPod: true, ownKubeconfig: false };
const OUTSIDE = { inPod: false, ownKubeconfig: false };

const policy = (changes: { [Part in "defaults" | "allow" | "limits" | "force" | "podTemplates"]?: Partial<Policy[Part]> }): Policy => ({
  ...DEFAULT_POLICY,
  podTemplates: { ...(changes.podTemplates as Policy["podTemplates"]) },
  defaults: { ...DEFAULT_POLICY.defaults, ...changes.defaults },
  allow: { ...DEFAULT_POLICY.allow, ...changes.allow },
  limits: { ...DEFAULT_POLICY.limits, ...changes.limits },
  force: { ...DEFAULT_POLICY.force, ...changes.force },
});

test("in a pod, without a policy: what only the operator could allow is not asked for", () => {
  const { fixed, needed } = factsOf(DEFAULT_POLICY, IN_POD);
  expect([...fixed].sort()).toEqual(
    [
      "kubeconfig",
      "namespace",
      "dataClaim",
      "dataPath",
      "serviceAccountName",
      "runtimeClassName",
      "podTemplate",
      "retainJobs",
      "inherit",
      "inheritNames",
    ].sort(),
  );
  expect([...needed]).toEqual([]);
});

test("outside a cluster: what nothing can be taken from is asked for first, until the policy says it", () => {
  expect([...factsOf(DEFAULT_POLICY, OUTSIDE).needed]).toEqual(["kubeconfig", "namespace", "image", "dataClaim"]);
  const { fixed, needed } = factsOf(policy({ defaults: { kubeconfig: "/k", namespace: "agents", dataClaim: "data" } }), OUTSIDE);
  expect([...needed]).toEqual(["image"]);
  for (const key of ["kubeconfig", "namespace", "dataClaim", "serverContainer", "inheritNames"]) expect(fixed).toContain(key);
});

test.each<[string, Policy]>([
  ["namespace", policy({ allow: { namespaces: ["agents"] } })],
  ["kubeconfig", policy({ allow: { kubeconfigs: ["/etc/k"] } })],
  ["dataClaim", policy({ allow: { claims: ["*"] } })],
  ["dataPath", policy({ allow: { dataPaths: ["/data"] } })],
  ["serviceAccountName", policy({ allow: { serviceAccounts: ["agent"] } })],
  ["runtimeClassName", policy({ allow: { runtimeClasses: ["gvisor"] } })],
  ["podTemplate", policy({ podTemplates: { db: EMPTY_TEMPLATE } })],
  ["retainJobs", policy({ allow: { retainJobs: true } })],
  ["inherit", policy({ allow: { inheritAll: true } })],
  ["inheritNames", policy({ allow: { secrets: ["team"] } })],
])("%s can be chosen where the policy allows a choice", (key, allowing) => {
  expect(factsOf(DEFAULT_POLICY, IN_POD).fixed).toContain(key);
  expect(factsOf(allowing, IN_POD).fixed).not.toContain(key);
});

test.each<[string, Policy]>([
  ["image", policy({ allow: { images: [] } })],
  ["labels", policy({ allow: { labels: [] } })],
  ["agentDbStorageClass", policy({ allow: { storageClasses: [] } })],
  ["runtimeClassName", policy({ allow: { runtimeClasses: ["gvisor"] }, force: { runtimeClassName: "gvisor" } })],
  ["podTemplate", policy({ podTemplates: { db: EMPTY_TEMPLATE }, allow: { podTemplates: [] } })],
  ["podTemplate", policy({ podTemplates: { db: EMPTY_TEMPLATE }, force: { podTemplate: "db" } })],
])("%s cannot be chosen where the policy leaves none", (key, leavingNone) => {
  expect(factsOf(leavingNone, IN_POD).fixed).toContain(key);
});

test("a kubeconfig that the server itself is pointed at can be chosen", () => {
  expect(factsOf(DEFAULT_POLICY, { inPod: true, ownKubeconfig: true }).fixed).not.toContain("kubeconfig");
});

test("a limit below a built-in default is the form's default: a host writes it into a new agent's settings", () => {
  expect(factsOf(policy({ limits: { memory: "4Gi" } }), IN_POD).defaults).toMatchObject({ "resources.limits.memory": "4Gi" });
  expect(factsOf(DEFAULT_POLICY, IN_POD).defaults).toEqual({});
});

test("the form names what the policy has for all agents, or for all of this type", () => {
  const { fields } = formSchema(
    exampleCli,
    factsOf(
      policy({ defaults: { nodeSelector: { pool: "a" }, tools: "never" } as Policy["defaults"], allow: { nodeSelectors: [] } }),
      IN_POD,
    ),
  );
  const field = (key: string) => fields.find((each) => each.key === key);
  expect(field("nodeSelector")?.hint).toMatch(/Default: {"pool":"a"}, by the operator's policy\. Agents on this server cannot choose it/);
  expect(field("tools")?.default).toBe("never");
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "form-facts-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the file counts, and one that cannot be read leaves the usual form", async () => {
  const path = join(folder, "policy.yaml");
  writeFileSync(path, "allow: { serviceAccounts: [agent] }\n");
  const place = { POD_NAME: "server-0", POD_NAMESPACE: "paperclip" };
  expect((await formFacts({ ...place, PAPERCLIP_K8S_POLICY: path }, exampleCli)).fixed).not.toContain("serviceAccountName");
  writeFileSync(
    path,
    "agents: [{ match: { type: example_* }, defaults: { graceSec: 5 } }, { match: { role: qa }, defaults: { graceSec: 6 } }]",
  );
  expect((await formFacts({ ...place, PAPERCLIP_K8S_POLICY: path }, exampleCli)).defaults).toEqual({ graceSec: 5 });
  writeFileSync(path, "allow: [\n");
  expect(await formFacts({ ...place, PAPERCLIP_K8S_POLICY: path }, exampleCli)).toEqual(factsOf(DEFAULT_POLICY, IN_POD));
  expect((await formFacts({}, exampleCli)).needed).toContain("kubeconfig");
});
