import { loadAllYaml } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { permissions } from "../../packages/engine/src/kube/permissions.ts";
import { clusterRbacObjects, rbacObjects, rbacYaml } from "./rbac.ts";

interface Role {
  readonly metadata: { readonly name: string };
  readonly rules: readonly { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] }[];
}
const roleOf = (rules: typeof permissions) => rbacObjects(rules, names)[1] as unknown as Role;
const names = { namespace: "agents", name: "server", labels: { "example.io/part-of": "tests" } };

test("exactly the rows, one rule per resource, bound to the account of the same namespace", () => {
  const [account, , binding] = rbacObjects(permissions, names);
  const role = roleOf(permissions);
  expect(account).toMatchObject({ kind: "ServiceAccount", metadata: names });
  const granted = role.rules.flatMap((rule) => rule.verbs.map((verb) => `${verb} ${rule.apiGroups}/${rule.resources}`));
  const namespaced = permissions.filter(({ scope }) => scope === "namespace");
  expect(granted.sort()).toEqual(namespaced.map(({ verb, group, resource }) => `${verb} ${group}/${resource}`).sort());
  expect(new Set(role.rules.map((rule) => rule.resources[0])).size).toBe(role.rules.length);
  expect(binding).toMatchObject({
    roleRef: { kind: "Role", name: role.metadata.name },
    subjects: [{ kind: "ServiceAccount", name: "server", namespace: "agents" }],
  });
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
    roleRef: { kind: "ClusterRole", name: "agents-server" },
    subjects: [{ kind: "ServiceAccount", name: "server", namespace: "agents" }],
  });
});

test("an account without a row does not have it", () => {
  const without = permissions.filter(({ verb, resource }) => !(verb === "watch" && resource === "pods"));
  expect(roleOf(without).rules.find((rule) => rule.resources[0] === "pods")?.verbs).toEqual(["list", "get", "patch"]);
});
