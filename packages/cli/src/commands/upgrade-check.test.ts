import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Pocket, startPocket } from "@paperclip-k8s/pocket";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { agentClis } from "../../../agent-clis.ts";
import { runCommand } from "../run-command.ts";

// The whole command, on an embedded cluster, against answers that are shaped as those of Paperclip 2026.824.1.

const [CLI] = await Promise.all(Object.values(agentClis).map((load) => load()));
const TYPE = CLI!.type;
const ID = "aaaaaaaa-0000-4000-8000-000000000000";

/** Deeper than a function that calls itself can go; as text, because JSON.stringify is such a function. */
const DEEP = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;

type Answers = Record<string, unknown>;
let answers: Answers = {};
/** By path; 200 unless set. */
let statuses: Record<string, number> = {};
let server: Server;
let cluster: Pocket;

beforeAll(async () => {
  cluster = await startPocket({ images: {} });
  cluster.createNamespace("agents");
  server = createServer((request, response) => {
    const path = (request.url ?? "").replace("/api", "");
    response.statusCode = statuses[path] ?? (answers[path] === undefined ? 404 : 200);
    response.end(
      response.statusCode === 200
        ? JSON.stringify(answers[path]).replaceAll('"DEEP"', DEEP)
        : JSON.stringify({ error: "Board access required" }),
    );
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
});
afterAll(async () => {
  server.close();
  await cluster.stop();
});
beforeEach(() => {
  statuses = {};
  answers = { "/companies": [{ id: "company", name: "Acme" }], "/companies/company/agents": [] };
});

const agent = (adapterConfig: unknown, change: object = {}) => ({ id: ID, name: "Otto", adapterType: TYPE, adapterConfig, ...change });

function hire(...agents: { readonly id: string }[]): void {
  answers["/companies/company/agents"] = agents;
  for (const { id } of agents) answers[`/agents/${id}/task-sessions`] = [];
}

async function check(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (line: string) => void out.push(`${line}\n`),
    err: (line: string) => void err.push(`${line}\n`),
    env: { PAPERCLIP_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, PAPERCLIP_API_KEY: "key" },
    stopped: new AbortController().signal,
    now: Date.now,
  };
  const code = await runCommand(["upgrade-check", "--kubeconfig", cluster.kubeconfig, "-n", "agents", ...args], terminal);
  return { code, out: out.join(""), err: err.join("") };
}

test("an agent without anything to do, and agents of other adapters", async () => {
  hire(agent({ model: "a/m" }), agent({}, { id: "other", adapterType: "process" }));
  const { code, out, err } = await check();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.replace(/\s+/g, " ")).toContain("1 agent of these adapters in 1 company; 1 agent of other adapters is not concerned");
  expect(out).toContain(`Otto (${TYPE}, Acme, ${ID})\n  nothing to do\n`);
  expect(out).toContain("no agent's runs would be refused");
  for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
});

test("what is refused is exit code 3, and what to do stands below it", async () => {
  hire(agent({ serviceAccountName: "deployer", ttlSecondsAfterFinished: 300 }));
  const { code, out } = await check();
  expect(code).toBe(3);
  expect(out).toMatch(/ {2}REFUSED {2}serviceAccountName +"deployer" is not allowed/);
  expect(out).toMatch(/-> allow it in the policy, or clear it/);
  expect(out).toMatch(/ {2}changed {2}ttlSecondsAfterFinished/);
  expect(out).toContain("runs of 1 agent would be refused: Otto");
});

test("the operator's policy counts; one that cannot be used is an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "upgrade-check-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, "allow: { serviceAccounts: [deployer] }\n");
  hire(agent({ serviceAccountName: "deployer" }));
  expect(await check("--policy", policy)).toMatchObject({ code: 0, out: expect.stringContaining(policy) });
  writeFileSync(policy, "allow: { serviceAccount: [deployer] }\n");
  expect(await check("--policy", policy)).toMatchObject({ code: 1, out: "", err: expect.stringContaining("there is no such key") });
});

test("-n is not the server's namespace: an agent's own namespace is refused until the server's is known", async () => {
  hire(agent({ namespace: "agents" }));
  const { code, out } = await check();
  expect(code).toBe(3);
  expect(out).toMatch(/REFUSED +namespace/);
  expect(out).toContain("--server-namespace <name> says which namespace is the server's own");
  expect(await check("--server-namespace", "agents")).toMatchObject({ code: 0, out: expect.not.stringContaining("REFUSED") });
  expect(await check("--server-namespace", "other")).toMatchObject({ code: 3 });
});

test("settings that the key may not read are listed as unknown", async () => {
  hire(agent({}));
  statuses[`/agents/${ID}/configuration`] = 403;
  const { code, out } = await check();
  expect(code).toBe(3);
  expect(out.replace(/\s+/g, " ")).toMatch(/Otto .* UNKNOWN settings could not be read: GET \S+ HTTP 403 Board access required/);
  expect(out).toContain("1 agent could not be checked: Otto");
  delete statuses[`/agents/${ID}/configuration`];
  answers[`/agents/${ID}/configuration`] = { adapterConfig: {} };
  expect(await check()).toMatchObject({ code: 0, out: expect.stringContaining("nothing to do") });
});

test("a host that cannot be read is an error, never a host without agents", async () => {
  statuses["/companies"] = 403;
  expect(await check()).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/HTTP 403.*a board API key is needed .*not an agent's/),
  });
  statuses["/companies"] = 401;
  expect((await check()).err).toMatch(/the API key is not accepted; a board API key is needed/);
  statuses["/companies"] = 500;
  expect(await check()).toMatchObject({ code: 1, out: "" });
  statuses = {};
  statuses["/companies/company/agents"] = 500;
  expect(await check()).toMatchObject({ code: 1, out: "" });
  statuses = {};
  for (const odd of [{}, "text", null, [null], [{ name: "no id" }]]) {
    answers["/companies/company/agents"] = odd;
    expect(await check()).toMatchObject({ code: 1, out: "", err: expect.stringContaining("the answer is not a list") });
  }
});

test("a company is chosen by name or id; one that does not exist is an error that names those that do", async () => {
  hire(agent({ model: "a/m" }));
  for (const name of ["company", "Acme", "acme"]) expect(await check("--company", name)).toMatchObject({ code: 0 });
  const { code, out, err } = await check("--company", "Acne");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain('the server shows no company "Acne"; it has Acme (company)');
});

test("stored sessions are counted, and said to be unknown where they cannot be read", async () => {
  hire(agent({ model: "a/m" }));
  const session = { adapterType: TYPE, sessionParamsJson: { sessionId: "s" } };
  answers[`/agents/${ID}/task-sessions`] = [
    session,
    session,
    { ...session, sessionParamsJson: null },
    { ...session, adapterType: "process" },
  ];
  expect((await check()).out).toContain("2 stored sessions: each task's next run looks");
  statuses[`/agents/${ID}/task-sessions`] = 403;
  expect(await check()).toMatchObject({ code: 0, out: expect.stringMatching(/UNKNOWN {2}sessions +could not be read/) });
});

test("a cluster that cannot be reached is said, and stops nothing", async () => {
  hire(agent({ model: "a/m" }));
  const { code, out } = await check("--kubeconfig", "/nowhere/kubeconfig");
  expect(code).toBe(0);
  expect(out).toContain("Jobs and claims in namespace agents could not be looked at: kubeconfig /nowhere");
  expect(out).not.toContain("looked for");
});

test("an agent's claim is found, and whether its settings use it", async () => {
  const prefix = CLI!.state!.claim!.prefix;
  cluster.createClaim("agents", `${prefix}${ID}`, cluster.dir);
  hire(agent({ agentDbMode: "dedicated_pvc" }));
  expect((await check()).out.replace(/\s+/g, " ")).toContain(`kept claim agents/${prefix}${ID} is used as before`);
  for (const unset of [{ model: "a/m" }, { agentDbMode: "no such mode" }]) {
    hire(agent(unset));
    expect((await check()).out.replace(/\s+/g, " ")).toContain("sessions on it go on, new ones are kept on the shared volume");
  }
  hire(agent({ agentDbMode: "portable" }));
  expect((await check()).out.replace(/\s+/g, " ")).toContain("no longer used -> set agentDbMode to dedicated_pvc to go on with it");
});

test("hostile settings and names: bounded, cleaned, and no other agent's check is lost", async () => {
  const deep = "DEEP";
  const names = Array.from({ length: 3000 }, (_, at) => `NAME_${at}`);
  const hostile = {
    "\u001b[31mkey\u202e": 1,
    resources: deep,
    env: deep,
    labels: deep,
    inheritNames: names,
    image: `\u001b]0;x\u0007${"i".repeat(70_000)}`,
  };
  hire(agent(hostile, { name: `\u001b[2J${"n".repeat(5000)}\n` }), agent({ model: "a/m" }, { id: "second", name: "Second" }));
  const { code, out } = await check();
  expect(code).toBe(3);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
  expect(out.length).toBeLessThan(50_000);
  expect(out).toContain("Second (");
});

test("-o json for programs", async () => {
  hire(agent({ serviceAccountName: "deployer" }));
  const { code, out } = await check("-o", "json");
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    companies: 1,
    policy: null,
    agents: [
      {
        id: ID,
        name: "Otto",
        type: TYPE,
        unreadable: null,
        findings: expect.arrayContaining([expect.objectContaining({ setting: "serviceAccountName", kind: "refused" })]),
      },
    ],
    cluster: { namespaces: ["agents"], unseen: [] },
  });
});
