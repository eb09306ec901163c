import { expect, test } from "vitest";
import { FIXED, OVERRIDABLE } from "./fact-overrides.ts";
import { hostFacts } from "./facts.ts";
import { build, context } from "./testing/example-env.ts";
import { workspaceOf } from "./workspace.ts";

const agent = { id: "agent-1", companyId: "company-1", name: "Ada" };
const ctx = { runId: "run-1", agent, context, authToken: "run-token" };
const facts = await hostFacts(ctx, "http://paperclip:3100", () => true, workspaceOf(context, null));

test("each fact of the host is either replaceable or not; the API's address is used in another way", () => {
  const listed = [...OVERRIDABLE, ...Object.keys(FIXED), "PAPERCLIP_API_URL"];
  expect(new Set(listed).size).toBe(listed.length);
  expect([...listed].sort()).toEqual(Object.keys(facts).sort());
});

test.each([...OVERRIDABLE])("%s: the agent's own value wins, and the log says so", async (name) => {
  const { plain, secret, warnings } = await build({ env: { [name]: "mine" } });
  expect({ ...plain, ...secret }[name]).toBe("mine");
  expect(warnings).toEqual([`the agent's own setting is used instead of the host's value: env.${name}`]);
});

test.each(Object.entries(FIXED))("%s: the host's value stays, and the log says why", async (name, why) => {
  const { plain, secret, warnings } = await build({ env: { [name]: "mine" } });
  expect({ ...plain, ...secret }[name]).toBe({ ...facts }[name]);
  expect(warnings).toEqual([`the agent's own setting is not used: env.${name} (${why})`]);
});

test("a run without a task or an approval gets none from the agent's settings", async () => {
  const { plain, secret, warnings } = await build({ context: {}, env: { PAPERCLIP_TASK_ID: "t", PAPERCLIP_APPROVAL_STATUS: "approved" } });
  for (const name of ["PAPERCLIP_TASK_ID", "PAPERCLIP_APPROVAL_STATUS"]) expect({ ...plain, ...secret }).not.toHaveProperty(name);
  expect(warnings).toEqual([
    expect.stringContaining("env.PAPERCLIP_TASK_ID (it belongs to the run's task), env.PAPERCLIP_APPROVAL_STATUS"),
  ]);
});

test("no word about equal values, nor about one that the host does not have", async () => {
  const env = { PAPERCLIP_RUN_ID: "run-1", PAPERCLIP_WORKSPACE_REPO_REF: "main" };
  expect((await build({ env })).warnings).toEqual([]);
  expect((await build({ context: {}, env: { PAPERCLIP_RUNTIME_PRIMARY_URL: "http://web" } })).warnings).toEqual([]);
});
