import { expect, test } from "vitest";
import { HOME_MOUNT, TMP_MOUNT } from "./mounts.ts";
import { build, type Changes, context, wake } from "./testing/example-env.ts";

const NESTING = ["MODEL_NESTED", "MODEL_SESSION"];

const EVERY: readonly [name: string, place: "plain" | "secret", value: unknown][] = [
  ["PAPERCLIP_AGENT_ID", "plain", "agent-1"],
  ["PAPERCLIP_COMPANY_ID", "plain", "company-1"],
  ["PAPERCLIP_RUN_ID", "plain", "run-1"],
  ["PAPERCLIP_API_URL", "plain", "http://paperclip:3100"],
  ["PAPERCLIP_API_KEY", "secret", "run-token"],
  ["PAPERCLIP_TASK_ID", "plain", "task-1"],
  ["PAPERCLIP_ISSUE_WORK_MODE", "plain", "planning"],
  ["PAPERCLIP_WAKE_REASON", "plain", "issue_commented"],
  ["PAPERCLIP_WAKE_COMMENT_ID", "plain", "comment-1"],
  ["PAPERCLIP_WAKE_PAYLOAD_JSON", "secret", expect.stringContaining("Please $(hurry)")],
  ["PAPERCLIP_APPROVAL_ID", "plain", "approval-1"],
  ["PAPERCLIP_APPROVAL_STATUS", "plain", "approved"],
  ["PAPERCLIP_LINKED_ISSUE_IDS", "plain", "issue-1,issue-2"],
  ["PAPERCLIP_WORKSPACE_CWD", "plain", "/data/work/acme"],
  ["PAPERCLIP_WORKSPACE_SOURCE", "plain", "project_primary"],
  ["PAPERCLIP_WORKSPACE_STRATEGY", "plain", "git_worktree"],
  ["PAPERCLIP_WORKSPACE_ID", "plain", "workspace-1"],
  ["PAPERCLIP_WORKSPACE_REPO_URL", "secret", "https://token@example.com/acme.git"],
  ["PAPERCLIP_WORKSPACE_REPO_REF", "secret", "main"],
  ["PAPERCLIP_WORKSPACE_BRANCH", "secret", "acme-1-fix-the-gate"],
  ["PAPERCLIP_WORKSPACE_WORKTREE_PATH", "secret", "/data/work/acme/.worktrees/1"],
  ["PAPERCLIP_WORKSPACES_JSON", "secret", '[{"workspaceId":"workspace-1","cwd":"/data/work/acme"},{"workspaceId":"workspace-2"}]'],
  ["PAPERCLIP_RUNTIME_SERVICE_INTENTS_JSON", "secret", '[{"name":"web"}]'],
  ["PAPERCLIP_RUNTIME_SERVICES_JSON", "secret", '[{"name":"web","url":"http://web:80"}]'],
  ["PAPERCLIP_RUNTIME_PRIMARY_URL", "secret", "http://web:80/?key=1"],
  ["AGENT_HOME", "plain", "/data/home/agent-1"],
  ["PAPERCLIP_SCRATCH_DIR", "plain", TMP_MOUNT],
  ["PAPERCLIP_RUN_SCRATCH_DIR", "plain", TMP_MOUNT],
  ["PAPERCLIP_TASK_SCRATCH_DIR", "plain", TMP_MOUNT],
  ["PAPERCLIP_TMPDIR", "plain", TMP_MOUNT],
  ["TMPDIR", "plain", TMP_MOUNT],
  ["TMP", "plain", TMP_MOUNT],
  ["TEMP", "plain", TMP_MOUNT],
  ["HOME", "plain", HOME_MOUNT],
  ["XDG_CONFIG_HOME", "plain", `${HOME_MOUNT}/.config`],
  ["XDG_CACHE_HOME", "plain", `${HOME_MOUNT}/.cache`],
  ["XDG_STATE_HOME", "plain", `${HOME_MOUNT}/.local/state`],
  ["XDG_DATA_HOME", "plain", `${HOME_MOUNT}/.local/share`],
];

test.each(EVERY)("%s is %s", async (name, place, value) => {
  const env = await build();
  expect(env[place][name]).toEqual(value);
  expect(env[place === "plain" ? "secret" : "plain"]).not.toHaveProperty(name);
});

test("a home that the pod does not have becomes the one it has; without one of the host's there is none", async () => {
  const workspace = context.paperclipWorkspace;
  const of = async (agentHome: unknown) =>
    (await build({ context: { ...context, paperclipWorkspace: { ...workspace, agentHome } } })).plain.AGENT_HOME;
  expect(await of("/srv/home")).toBe("/data/own");
  for (const none of [undefined, null, "", 7]) expect(await of(none)).toBeUndefined();
});

test("there are no others, and no token of the host's tools", async () => {
  const env = await build();
  expect([...Object.keys(env.plain), ...Object.keys(env.secret)].sort()).toEqual(EVERY.map(([name]) => name).sort());
  expect(JSON.stringify(env)).not.toContain("runtime-tools-token");
  expect(JSON.stringify(env.plain)).not.toMatch(/token|hurry|squeaks|fix-the-gate/);
});

test("a bare context leaves out what it does not know", async () => {
  const env = await build({
    context: { taskId: " ", wakeReason: "", issueIds: [], paperclipWorkspace: null, paperclipWorkspaces: "?" },
    authToken: "",
  });
  const facts = [...Object.keys(env.plain), ...Object.keys(env.secret)].filter(
    (name) => /^(PAPERCLIP|AGENT)_/.test(name) && !/SCRATCH|TMP/.test(name),
  );
  expect(facts.sort()).toEqual(["PAPERCLIP_AGENT_ID", "PAPERCLIP_API_URL", "PAPERCLIP_COMPANY_ID", "PAPERCLIP_RUN_ID"]);
});

test.each<[string, Record<string, unknown>, string, string | undefined]>([
  ["the issue stands for the task", { issueId: "issue-1" }, "PAPERCLIP_TASK_ID", "issue-1"],
  ["the comment stands for the wake's", { commentId: "comment-0" }, "PAPERCLIP_WAKE_COMMENT_ID", "comment-0"],
  ["the issue's work mode comes first", { ...context, paperclipIssue: { workMode: "standard" } }, "PAPERCLIP_ISSUE_WORK_MODE", "standard"],
  ["a reason in words is kept from the Job spec", { wakeReason: "the boss said so" }, "PAPERCLIP_WAKE_REASON", undefined],
])("%s", async (_, facts, name, value) => {
  const env = await build({ context: facts });
  expect(env.plain[name]).toBe(value);
  if (value === undefined) expect(env.secret[name]).toBe(Object.values(facts)[0]);
});

test.each<[string, Changes, "plain" | "secret", string]>([
  [
    "of the user",
    { env: { PAPERCLIP_API_URL: "http://user:1" }, serverEnv: { PAPERCLIP_RUNTIME_API_URL: "http://runtime:3" } },
    "plain",
    "http://user:1",
  ],
  [
    "of the server",
    { serverEnv: { PAPERCLIP_API_URL: "http://server:2", PAPERCLIP_RUNTIME_API_URL: "http://runtime:3" } },
    "plain",
    "http://server:2",
  ],
  [
    "derived by the host",
    { serverEnv: { PAPERCLIP_API_URL: "", PAPERCLIP_RUNTIME_API_URL: "http://runtime:3" } },
    "plain",
    "http://runtime:3",
  ],
  ["with a password", { env: { PAPERCLIP_API_URL: "http://me:pw@user:1" } }, "secret", "http://me:pw@user:1"],
])("the API's URL %s", async (_, changes, place, url) => {
  const env = await build(changes);
  expect(env[place].PAPERCLIP_API_URL).toBe(url);
  expect(env.apiUrl).toBe(url);
  const relayed = await build({ ...changes, forced: { PAPERCLIP_API_URL: "http://127.0.0.1:9" } });
  expect(relayed.plain.PAPERCLIP_API_URL).toBe("http://127.0.0.1:9");
  expect(relayed.secret.PAPERCLIP_API_URL).toBeUndefined();
  expect(relayed.apiUrl).toBe(url);
  expect(relayed.warnings).toEqual([]);
});

test("layers: inherited, facts, the agent's settings, forced", async () => {
  const reference = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: "provider", key: name } } });
  const env = await build({
    inherited: {
      literals: {
        LANG: "C",
        SHARED: "inherited",
        HOME: "/root",
        PAPERCLIP_RUN_ID: "server",
        PAPERCLIP_DEV_API_KEY: "dev",
        MODEL_NESTED: "1",
      },
      references: ["KEY", "SHARED", "PAPERCLIP_TASK_ID", "MODEL_CONFIG", "PAPERCLIP_API_KEY", "MODEL_SESSION"].map(reference),
      from: [],
      hidden: [],
    },
    env: {
      SHARED: "mine",
      EMPTY: "",
      PAPERCLIP_RUN_ID: "mine",
      PAPERCLIP_MINE: "mine",
      PAPERCLIP_API_KEY: "mine",
      XDG_DATA_HOME: "/mine",
      AGENT_HOME: "/mine",
    },
    plan: { plainEnv: { XDG_DATA_HOME: "/data/state", SHARED_PLAN: "1" }, secretEnv: { MODEL_CONFIG: "{}" } },
  });
  expect(env.secret).toMatchObject({
    LANG: "C",
    SHARED: "mine",
    EMPTY: "",
    PAPERCLIP_MINE: "mine",
    PAPERCLIP_API_KEY: "run-token",
    AGENT_HOME: "/mine",
    MODEL_CONFIG: "{}",
  });
  expect(env.plain).toMatchObject({ HOME: HOME_MOUNT, PAPERCLIP_RUN_ID: "run-1", XDG_DATA_HOME: "/data/state", SHARED_PLAN: "1" });
  expect(env.references).toEqual([reference("KEY")]);
  for (const name of ["HOME", "PAPERCLIP_RUN_ID", "XDG_DATA_HOME", "PAPERCLIP_DEV_API_KEY", "MODEL_NESTED"])
    expect(env.secret).not.toHaveProperty(name);
  expect(env.plain).not.toHaveProperty("AGENT_HOME");
  expect(env.warnings).toEqual([
    "the agent's own setting is used instead of the host's value: env.AGENT_HOME",
    "the agent's own setting is not used: env.PAPERCLIP_RUN_ID (it says who the run is), env.PAPERCLIP_API_KEY (it is the run's token)",
    "set for each run, so the agent's own setting is not used: env.XDG_DATA_HOME",
  ]);
});

test("what whole Secrets bring is hidden where it must not arrive", async () => {
  const from = [{ kind: "secret", name: "server", prefix: "", optional: false }] as const;
  const env = await build({ inherited: { literals: {}, references: [], from, hidden: ["DATABASE_URL", "MODEL_NESTED"] } });
  expect(env.from).toEqual(from);
  expect(new Set(env.hidden)).toEqual(new Set(["DATABASE_URL", "PAPERCLIP_DEV_API_KEY", "PAPERCLIP_API_KEY", ...NESTING]));
  expect(env.secret.PAPERCLIP_API_KEY).toBe("run-token");
  expect((await build()).hidden).toEqual([]);
});

test("a developer's key and marks of nesting never pass", async () => {
  const env = await build({ env: Object.fromEntries(["PAPERCLIP_DEV_API_KEY", ...NESTING].map((name) => [name, "1"])) });
  expect(JSON.stringify(env)).not.toMatch(/DEV_API_KEY|MODEL_/);
});

test("a history too long for a variable leaves the payload short, one of its own too long is left out", async () => {
  const executionContinuation = { version: 1, messages: ["x".repeat(200_000)] };
  const short = await build({ context: { paperclipWake: { ...wake, executionContinuation } } });
  expect(JSON.parse(short.secret.PAPERCLIP_WAKE_PAYLOAD_JSON!)).toMatchObject({
    executionContinuation: null,
    comments: [{ id: "comment-1" }],
  });
  expect(short.warnings).toEqual([]);
  const services = await build({ context: { paperclipRuntimeServices: [{ log: "é".repeat(70_000) }] } });
  expect(services.secret).not.toHaveProperty("PAPERCLIP_RUNTIME_SERVICES_JSON");
  expect(services.warnings).toEqual([expect.stringContaining("PAPERCLIP_RUNTIME_SERVICES_JSON")]);
});

test("the agent's folder setting wins over its home, not over a workspace", async () => {
  const home = await build({ context: { paperclipWorkspace: { cwd: "/data/home", source: "agent_home" } }, cwd: "/data/mine" });
  expect(home.plain).not.toHaveProperty("PAPERCLIP_WORKSPACE_CWD");
  expect((await build({ cwd: "/data/mine" })).plain.PAPERCLIP_WORKSPACE_CWD).toBe("/data/work/acme");
});
