import { loadAllYaml } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { permissions } from "../../packages/engine/src/kube/permissions.ts";
import { clusterRbacObjects, rbacObjects, rbacYaml } from "./rbac.ts";

interface Role {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly rules: readonly { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] }[];
}
const rolesOf = (rules: typeof permissions) => rbacObjects(rules, names).filter(({ kind }) => kind === "Role") as unknown as Role[];
const grantedBy = (role: Role | undefined) =>
  role?.rules.flatMap((rule) => rule.verbs.map((verb) => `${verb} ${rule.apiGroups}/${rule.resources}`)).sort();
const names = { namespace: "host", runs: "agents", name: "server", labels: { "example.io/part-of": "tests" } };

test("exactly the rows, one rule per resource, bound to the account of the server's namespace", () => {
  const [account, ...others] = rbacObjects(permissions, names);
  const [runs, own] = rolesOf(permissions);
  expect(account).toMatchObject({ kind: "ServiceAccount", metadata: { name: "server", namespace: "host", labels: names.labels } });
  for (const [scope, role] of [["namespace", runs] as const, ["own-namespace", own] as const]) {
    const rows = permissions.filter((row) => row.scope === scope);
    expect(grantedBy(role)).toEqual(rows.map(({ verb, group, resource }) => `${verb} ${group}/${resource}`).sort());
    expect(new Set(role?.rules.map((rule) => rule.resources[0])).size).toBe(role?.rules.length);
  }
  expect([runs?.metadata.namespace, own?.metadata.namespace]).toEqual(["agents", "host"]);
  const bindings = others.filter(({ kind }) => kind === "RoleBinding");
  expect(bindings).toMatchObject(
    [runs, own].map((role) => ({
      metadata: { namespace: role?.metadata.namespace },
      roleRef: { kind: "Role", name: role?.metadata.name },
      subjects: [{ kind: "ServiceAccount", name: "server", namespace: "host" }],
    })),
  );
});

test("in the server's own namespace the account may read pods, and nothing else", () => {
  expect(grantedBy(rolesOf(permissions)[1])).toEqual(["get /pods"]);
});

test("the file for people holds the same objects, and a reason for each verb", () => {
  const objects = [...rbacObjects(permissions, names), ...clusterRbacObjects(permissions, names)];
  const text = rbacYaml(permissions, objects);
  expect(JSON.parse(JSON.stringify(loadAllYaml(text)))).toEqual(objects);
  for (const { verb, why } of permissions) expect(text).toContain(`# ${verb}: ${why}\n`);
});

test("what is cluster-wide stands apart, for the same account", () => {
  const [role, binding] = clusterRbacObjects(permissions, names);
  expect(role).toMatchObject({
    kind: "ClusterRole",
    rules: [{ apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["get"] }],
  });
  expect(binding).toMatchObject({
    kind: "ClusterRoleBinding",
    roleRef: { kind: "ClusterRole", name: "host-server" },
    subjects: [{ kind: "ServiceAccount", name: "server", namespace: "host" }],
  });
});

test("an account without a row does not have it", () => {
  const without = permissions.filter(({ verb, resource }) => !(verb === "watch" && resource === "pods"));
  expect(rolesOf(without)[0]?.rules.find((rule) => rule.resources[0] === "pods")?.verbs).toEqual(["list", "patch"]);
});
