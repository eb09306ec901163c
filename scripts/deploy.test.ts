import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadAllYaml, loadYaml } from "@kubernetes/client-node";
import { expect, onTestFinished, test } from "vitest";
import { loadKits } from "../packages/adapters.ts";
import { parsePolicy } from "../packages/paperclip/src/policy/parse-policy.ts";

// What an operator applies fits together, and to the code. What only an API server can say is in testbed/suite/src/kube/admission-policy.kube-test.ts.

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const objects = (path: string) => loadAllYaml(read(path)) as Manifest[];
const clis = Object.values(await loadKits()).map(({ cli }) => cli);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Record<string, unknown>;
}

test("every file is applied, except those that say when to apply them by hand", () => {
  const { resources } = loadYaml<{ resources: string[] }>(read("deploy/kustomization.yaml"));
  const files = readdirSync(join(root, "deploy")).filter((name) => name.endsWith(".yaml"));
  const byHand = ["kustomization.yaml", "rbac-cluster.yaml", "volume-ownership.yaml"];
  expect(resources.filter((name) => name !== "admission").sort()).toEqual(files.filter((name) => !byHand.includes(name)).sort());
  const admission = loadYaml<{ resources: string[] }>(read("deploy/admission/kustomization.yaml")).resources;
  const others = readdirSync(join(root, "deploy/admission")).filter((name) => name !== "kustomization.yaml");
  expect([...admission].sort()).toEqual(others.sort());
});

test("the policy file of deploy/ is valid, and names the agents' namespace and claim", () => {
  const [{ data }] = loadAllYaml(read("deploy/policy.yaml")) as [{ data: Record<string, string> }];
  const { policy, problems } = parsePolicy(loadYaml(data["policy.yaml"] ?? ""), "policy.yaml");
  expect(problems).toEqual([]);
  const claims = objects("deploy/claim.yaml").filter(({ kind }) => kind === "PersistentVolumeClaim");
  const { namespace, dataClaim } = policy.defaults;
  expect(claims.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toContain(`${namespace}/${dataClaim}`);
  expect(objects("deploy/rbac.yaml").find(({ kind }) => kind === "Role")?.metadata.namespace).toBe(namespace);
});

test("both volumes lead to the same files, each to one claim only", () => {
  const volumes = objects("deploy/claim.yaml").filter(({ kind }) => kind === "PersistentVolume");
  expect(volumes).toHaveLength(2);
  expect(volumes[0]?.spec.nfs).toEqual(volumes[1]?.spec.nfs);
  const claims = objects("deploy/claim.yaml").filter(({ kind }) => kind === "PersistentVolumeClaim");
  const bound = claims.map(({ metadata: { name, namespace }, spec }) => [spec.volumeName, { name, namespace }]);
  expect(volumes.map(({ metadata, spec }) => [metadata.name, spec.claimRef])).toEqual(bound);
});

interface AdmissionPolicy {
  readonly failurePolicy: string;
  readonly matchConditions: readonly { readonly expression: string }[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly reason: string; readonly message: string }[];
}
const admission = ["jobs", "objects", "changes", "bindings"].flatMap((name) => objects(`deploy/admission/${name}.yaml`));
const policies = admission.filter(({ kind }) => kind === "ValidatingAdmissionPolicy");

test("each admission policy is bound, refuses in words of ours, and means the account of rbac.yaml", () => {
  const bindings = admission.filter(({ kind }) => kind === "ValidatingAdmissionPolicyBinding");
  expect(bindings.map(({ spec }) => spec.policyName).sort()).toEqual(policies.map(({ metadata }) => metadata.name).sort());
  for (const { spec } of bindings) expect(spec.validationActions).toEqual(["Deny"]);
  const account = objects("deploy/rbac.yaml").find(({ kind }) => kind === "ServiceAccount")?.metadata;
  for (const { metadata, spec } of policies) {
    const { failurePolicy, matchConditions, validations } = spec as unknown as AdmissionPolicy;
    expect(failurePolicy, metadata.name).toBe("Fail");
    const isServer = `request.userInfo.username == 'system:serviceaccount:${account?.namespace}:${account?.name}'`;
    expect(matchConditions.map(({ expression }) => expression)).toEqual([isServer]);
    // 403: a 422 would mean to the engine that another run was faster.
    for (const { reason, message } of validations) expect(`${reason} ${message}`).toMatch(/^Forbidden paperclip: /);
  }
});

test("the admission policies know the names of every CLI's Jobs and claims", () => {
  const lists = (name: string) =>
    policies.flatMap(({ spec }) => (spec as unknown as AdmissionPolicy).variables?.filter((each) => each.name === name) ?? []);
  const known = (name: string) => lists(name).map(({ expression }) => JSON.parse(expression.replaceAll("'", '"')) as string[]);
  const prefixes = clis.map(({ jobPrefix }) => jobPrefix).sort();
  expect(known("jobPrefixes")).toEqual([prefixes, prefixes]);
  const claims = clis.flatMap(({ state }) => (state?.claim === undefined ? [] : [state.claim.prefix]));
  expect(known("claimPrefixes")).toEqual([claims, claims]);
});

interface Addresses {
  readonly cidr: string;
  readonly except?: string[];
}

test("agents reach no private, link-local, shared, multicast or documentation range", () => {
  const agents = objects("deploy/network-policy.yaml").filter(({ metadata }) => metadata.name === "paperclip-agents");
  const egress = agents.flatMap(({ spec }) => spec.egress as { to: { ipBlock?: Addresses }[]; ports: { port: number }[] }[]);
  const open = egress.filter(({ to }) => to.some(({ ipBlock }) => ipBlock?.except !== undefined));
  expect(open.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([443]);
  const excluded = open.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock?.except ?? []));
  const v4 = [
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "127.0.0.0/8",
    "224.0.0.0/4",
    "192.0.2.0/24",
  ];
  expect(excluded).toEqual(expect.arrayContaining([...v4, "fc00::/7", "fe80::/10", "ff00::/8", "2001:db8::/32", "64:ff9b::/96"]));
  const names = egress.flatMap(({ to, ports }) => to.map(({ ipBlock }) => `${ipBlock?.cidr}:${ports[0]?.port}`));
  expect(names).toContain("169.254.20.10/32:53");
});

/** As the client's types have it. */
interface Ingress {
  readonly _from: readonly object[];
  readonly ports: readonly { readonly protocol: string }[];
}

test("agents' wake-ups reach the server, and no datagram of theirs reaches anything else but name servers", () => {
  const policies = objects("deploy/network-policy.yaml");
  const wakeUps = { port: 1024, endPort: 65_535, protocol: "UDP" };
  const ingress = policies.find(({ metadata }) => metadata.name === "paperclip-server")?.spec.ingress as Ingress[];
  // By a rule of their own: who else is let in to the API sends no datagrams.
  const fromAgents = { matchLabels: { "app.kubernetes.io/managed-by": "paperclip", "app.kubernetes.io/component": "agent-job" } };
  const woken = ingress.filter(({ ports }) => ports.some(({ protocol }) => protocol === "UDP"));
  expect(woken).toEqual([{ _from: [expect.objectContaining({ podSelector: fromAgents })], ports: [wakeUps] }]);
  const agents = policies.find(({ metadata }) => metadata.name === "paperclip-agents");
  const egress = agents?.spec.egress as { to: object[]; ports: { protocol: string; port: number }[] }[];
  const datagrams = egress.filter(({ ports }) => ports.some(({ protocol, port }) => protocol === "UDP" && port !== 53));
  const server = { matchLabels: { "app.kubernetes.io/name": "paperclip", "app.kubernetes.io/component": "server" } };
  expect(datagrams).toHaveLength(1);
  expect(datagrams[0]?.to).toEqual([expect.objectContaining({ podSelector: server })]);
  expect(datagrams[0]?.ports).toContainEqual(wakeUps);
});

test("rename.sh leaves no old name of a namespace in what is applied", () => {
  const folder = mkdtempSync(join(tmpdir(), "deploy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, "deploy"), folder, { recursive: true });
  execFileSync("sh", [join(folder, "rename.sh"), "one", "two"]);
  const files = [...readdirSync(folder), ...readdirSync(join(folder, "admission")).map((name) => `admission/${name}`)];
  const all = files
    .filter((name) => name.endsWith(".yaml"))
    .flatMap((name) => loadAllYaml(readFileSync(join(folder, name), "utf8")) as Manifest[]);
  const spaces = all.flatMap(({ kind, metadata }) => (kind === "Namespace" ? [metadata.name] : (metadata?.namespace ?? [])));
  expect([...new Set(spaces)].sort()).toEqual(["one", "two"]);
  const text = JSON.stringify(all);
  for (const old of [
    "paperclip-agents",
    "paperclip.paperclip",
    "serviceaccount:paperclip:",
    'metadata.name":"paperclip"',
    "paperclip-server-data",
  ])
    expect(text).not.toContain(old);
  expect(() => execFileSync("sh", [join(folder, "rename.sh"), "same", "same"], { stdio: "ignore" })).toThrow();
});

test("the images name exact versions: those of the lockfile", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { version: string }> };
  const version = (name: string) => packages[`node_modules/${name}`]?.version;
  for (const image of ["server", "agents", "tools"]) {
    const file = read(`deploy/${image}/Dockerfile`);
    expect(file, image).toContain(`ARG BASE=node:${version("node")}-slim\n`);
    expect(file.match(/js-yaml@\S+/)?.[0], image).toBe(image === "agents" ? undefined : `js-yaml@${version("js-yaml")}`);
  }
});

test("nothing tells anybody to install our packages by a name that nobody has registered", () => {
  const folders = [
    "docs",
    "deploy",
    ...["server", "agents", "tools"].map((image) => `deploy/${image}`),
    "testbed/paperclip",
    ...readdirSync(join(root, "packages"), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [`packages/${entry.name}`] : [],
    ),
  ];
  const texts = folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => /\.md$|^Dockerfile$|\.yaml$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  expect(texts.length).toBeGreaterThan(20);
  const byName =
    /npm (install|i|add)\b[^\n`]*[\s"](paperclip-(k8s|adapter-[a-z-]+))(@|\s|"|`|$)|npx paperclip-k8s|"packageName":\s*"paperclip-/gm;
  expect(
    ["README.md", ...texts].flatMap(
      (path) =>
        read(path)
          .match(byName)
          ?.map((found) => `${path}: ${found}`) ?? [],
    ),
  ).toEqual([]);
});
