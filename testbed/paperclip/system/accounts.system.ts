import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type AccountKind, cliNames, loadKits } from "../../../packages/adapters.ts";
import { plainEnv } from "../src/agent-kinds.ts";
import { adaptersOf } from "../src/host/adapters.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import { dropRoot } from "../src/server/user.ts";
import { openStage, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { makeAccount, useAccount } from "./accounts/accounts.ts";
import { type Providers, startProviders } from "./accounts/providers.ts";
import { textOf } from "./agents/at-work.ts";
import { NEWEST } from "./breadth.ts";

// Agents of the built-in types with an account of the host's: the run's CLI signs in with it, and nobody else sees it.

const kits = await loadKits();
const CASES = cliNames.flatMap((cli) => kits[cli].accounts.map((kind) => [cli, kind.method, kind] as const));

let stage: Stage;
let providers: Providers;
beforeAll(async () => {
  dropRoot();
  providers = await startProviders(() => stage.llm);
  const packed = inject("packed");
  stage = await openStage(packed, { version: NEWEST, builtIn: true, env: providers.env });
  for (const name of packed.inPlace) await adaptersOf(stage.host).install(join(packed.folder, name));
});
afterAll(async () => {
  await stage?.stop();
  await providers?.stop();
});

/** An agent whose variables lead to the providers of this machine; its account is all that it can sign in with. */
async function hire(cli: (typeof cliNames)[number], kind: AccountKind, key: string) {
  const { NODE_USE_ENV_PROXY: _, ...network } = providers.env;
  const { offline } = kits[cli].scriptedModel(stage.llm);
  const env = plainEnv({ ...network, ...offline, ...kits[cli].longCommands });
  const agent = await stage.company.hire(`${cli} with ${kind.method}`, `${cli}_local`, { model: kind.model, graceSec: 15, env });
  await useAccount(stage, agent, kind, await makeAccount(stage, kind, key));
  const misleading = kind.misleading?.("http://127.0.0.1:9");
  if (misleading !== undefined) {
    const file = join(stage.host.home.path, "instances/default/workspaces", agent.id, misleading.file);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, misleading.text);
  }
  return agent;
}

/** The values of the run's Secret, and everything that the cluster shows besides. */
function inCluster() {
  const { cluster, namespace } = stage;
  const secrets = cluster.list("secrets", namespace).flatMap(({ data = {} }) => Object.values(data as Record<string, string>));
  const shown = ["jobs", "pods", "events"].flatMap((resource) => cluster.list(resource as "jobs", namespace));
  return { secret: secrets.map((text) => Buffer.from(text, "base64").toString()).join("\n"), shown: JSON.stringify(shown) };
}

/** Files of the host's home, its database and logs among them, that have this text. */
function filesWith(text: string): string {
  const found = execFileSync("sh", ["-c", 'grep -rlaF -e "$1" "$2" || true', "sh", text, stage.host.home.root]);
  return found.toString();
}

const TOOLS_TOKEN = /"(?:PAPERCLIP_RUNTIME_TOOLS_TOKEN":"|Paperclip connections":\{.*?Bearer )(eyJ[\w.-]+)/;
/** Without quotes, as the host repeats the task inside JSON. */
const SEARCH = "curl -s --oauth2-bearer $PAPERCLIP_RUNTIME_TOOLS_TOKEN -d query= $PAPERCLIP_RUNTIME_TOOLS_CONNECTIONS_SEARCH_URL";

describe.each(CASES)("%s, account by %s", (cli, _, kind) => {
  const key = `sk-${kind.provider}-${kind.method}-of-the-account`;

  test("the run has the account in its Secret and nowhere else, its session is kept, and the host's connections are reached", async () => {
    const { company } = stage;
    const lastTurn = () => stage.llm.requests.findLast(({ tools }) => tools > 0);
    const agent = await hire(cli, kind, key);
    const gate = join(stage.host.home.path, `gate-${agent.id}`);
    const before = providers.turns.length;
    const command = `touch ${gate}; until test -e ${gate}-open; do sleep 0.2; done`;
    const issue = await company.assign(agent.id, `Look for connections as ${agent.name}`, `bash:${command} #`);
    const run = await nextRun(company, agent);
    await until("the agent at work", async () => existsSync(gate));
    const { secret, shown } = inCluster();
    expect(secret).toContain(key);
    expect(shown).toContain(run.id);
    const token = TOOLS_TOKEN.exec(secret)?.[1] ?? "none";
    expect(token).toMatch(/^eyJ/);
    writeFileSync(`${gate}-open`, "");
    const end = await runEnd(company, run.id);
    expect(end).toMatchObject({
      status: "succeeded",
      usageJson: { billingType: kind.method === "subscription" ? "subscription_included" : expect.any(String) },
    });
    expect(await textOf(stage, run)).toContain("session saved");
    const turns = providers.turns.slice(before);
    expect(turns.length).toBeGreaterThan(1);
    for (const turn of turns) expect(turn.key.replace(/^Bearer /, "")).toBe(key);

    const tool = lastTurn()?.toolNames.find((name) => name.endsWith("connections_search"));
    await company.update(issue.id, { description: "What the comment says." });
    await company.comment(issue.id, tool === undefined ? `bash:${SEARCH} #` : `call:${tool} {}`);
    const next = await runEnd(company, (await nextRun(company, agent, run)).id);
    expect(next.status).toBe("succeeded");

    const said = [await textOf(stage, run), JSON.stringify([end, next, await company.events(run.id)]), stage.host.log(), shown].join("\n");
    for (const value of [key, token]) {
      expect(said).not.toContain(value);
      expect(filesWith(value)).toBe("");
    }
    // Further runs of this agent would ask the providers during the next test.
    await company.update(issue.id, { status: "cancelled" });
    await until("the end of its runs", async () => (await company.runs(agent.id)).every(({ finishedAt }) => finishedAt !== null));
  });
});
