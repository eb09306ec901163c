import { expect, test } from "vitest";
import { denialText, deniedAccess } from "./permissions.ts";

const user = "system:serviceaccount:agents:server";

test("the authorizer's refusal names the row of the table that would help", () => {
  const message = `pods is forbidden: User "${user}" cannot watch resource "pods" in API group "" in the namespace "agents"`;
  const refused = deniedAccess(message);
  expect(refused).toEqual({ verb: "watch", resource: "pods", group: "", namespace: "agents", user });
  expect(denialText(refused!)).toBe(
    `not allowed to watch pods in namespace agents: account ${user} needs "watch" on "pods" (changes of all runs' pods, without polling)`,
  );
});

test("with a name, a group and a reason after it; something the table does not have", () => {
  const job = deniedAccess(
    `jobs.batch "a" is forbidden: User "${user}" cannot delete resource "jobs" in API group "batch" in the namespace "n": no binding`,
  );
  expect(denialText(job!)).toContain('needs "delete" on "jobs.batch" (cancel, and clean-up after the end)');
  const other = deniedAccess(`nodes is forbidden: User "${user}" cannot list resource "nodes" in API group "" at the cluster scope`);
  expect(denialText(other!)).toBe(`not allowed to list nodes: account ${user} needs "list" on "nodes"`);
});

test.each([
  'jobs.batch "a" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=5, limited: count/jobs.batch=5',
  'admission webhook "policy.example.io" denied the request: images must come from the company registry',
  'jobs.batch "a" is forbidden: unable to create new content in namespace n because it is being terminated',
])("a 403 of another kind blames no permission: %s", (message) => {
  expect(deniedAccess(message)).toBeNull();
});
