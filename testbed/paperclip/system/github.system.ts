import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { cliNames } from "../../../packages/adapters.ts";
import { REPOSITORY } from "../../suite/src/git-server.ts";
import { type AdapterType, KINDS, plainEnv } from "../src/agent-kinds.ts";
import { adaptersOf } from "../src/host/adapters.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import { dropRoot } from "../src/server/user.ts";
import { builtInConfig, openStage, type Stage } from "../src/stage.ts";
import { until } from "../src/wait.ts";
import { adopterOf, nothingLeft, textOf } from "./agents/at-work.ts";
import { NEWEST } from "./breadth.ts";
import { connectGitHub } from "./github/connection.ts";
import { type GitHubStandIn, openGitHub } from "./github/stand-in.ts";
import { goesOn } from "./restart/restart-under.ts";

// An agent's git with the credentials of a GitHub connection: host, route, launcher, git and pod are real, github.com is a stand-in.

let stage: Stage;
let github: GitHubStandIn;
beforeAll(async () => {
  dropRoot();
  const packed = inject("packed");
  stage = await openStage(packed, { version: NEWEST, builtIn: true, say: (line) => console.log(line) });
  for (const name of [...packed.names, ...packed.inPlace]) await adaptersOf(stage.host).install(join(packed.folder, name));
});
afterAll(() => stage?.stop());
beforeEach(async () => {
  github = await openGitHub("ghs-first");
});
afterEach(() => github?.stop());

/** Clones, makes and pushes a commit for each gate, and closes the issue. */
function writeTask(gate: string): string {
  const file = `${gate}.sh`;
  const env = Object.entries(github.env).map(([name, value]) => `${name}=${value}`);
  writeFileSync(
    file,
    `export ${env.join(" ")}
step() { git commit -q --allow-empty -m "$1" && git push -q origin HEAD:main && touch "${gate}-pushed-$1" && echo "pushed $1"; }
opened() { until test -e "${gate}-$1"; do sleep 0.2; done; }
cd "$HOME" && git clone -q https://github.com/${REPOSITORY} app && cd app && step one && opened two && step two && opened three && step three && close-issue`,
  );
  return file;
}

// Both ways, and each CLI.
const CASES = cliNames.map((cli, index) => [`${cli}${index === 0 ? "_k8s" : "_local"}`, cli] as const);

test.each(CASES)(
  "%s: a clone and three pushes, with the token of the moment, after it was replaced, and after a restart by the run that took the Job over",
  async (type, cli) => {
    const { company, host, cluster, namespace } = stage;
    const gate = join(host.home.path, `github-gate-${type}`);
    const own: AdapterType = `${cli}_k8s`;
    const { env, ...config } = builtInConfig(stage.llm, own);
    const agent = await company.hire(`Gitta of ${type}`, type, {
      ...config,
      env: { ...(env as object), ...plainEnv(KINDS[own].longCommands) },
    });
    const connection = await connectGitHub(stage, agent, "gitta", github.git.password);
    const issue = await company.assign(agent.id, "Push three commits", `bash:bash ${writeTask(gate)} 2>&1 #`);
    const run = await nextRun(company, agent);
    const commits = () => github.git.commits().catch(() => []);
    await until("the first push", async () => (await commits()).length === 1);

    /** In the Secret of the only Job. */
    const capability = (): string => {
      const data = cluster.list("secrets", namespace).flatMap((secret) => secret.data?.["credentials.json"] ?? []);
      const { headers } = JSON.parse(Buffer.from(String(data[0]), "base64").toString()) as { headers: Record<string, string> };
      return headers["x-paperclip-github-capability"] ?? "";
    };
    const renew = async (token: string) => {
      github.git.password = token;
      await connection.replaceToken(token);
    };
    await renew("ghs-second");
    writeFileSync(`${gate}-two`, "");
    await until("the second push", async () => (await commits()).length === 2);

    const capabilities = [capability()];
    await host.restart("SIGTERM");
    const work = { agent, issue, run, goOn: () => {} };
    // For a type of its own the host goes on by itself.
    const next = type === own ? (await goesOn(stage, work))[0]! : await adopterOf(stage, work);
    await until("the next run's capability", async () => capability() !== capabilities[0]);
    capabilities.push(capability());
    await renew("ghs-third");
    const exposed = ["jobs", "pods", "events"].map((kind) => JSON.stringify(cluster.list(kind as "jobs", namespace)));
    writeFileSync(`${gate}-three`, "");
    const log = async () => (await textOf(stage, run)) + (await textOf(stage, next));
    expect(await runEnd(company, next.id), await log()).toMatchObject({ status: "succeeded" });
    expect(await github.git.commits()).toEqual(["gitta: one", "gitta: two", "gitta: three"]);
    expect(await company.issue(issue.id)).toMatchObject({ status: "done" });

    const tokens = ["ghs-first", "ghs-second", "ghs-third"];
    // The host itself logs the header with which its launchers show their capability.
    expect(tokens.filter((token) => host.log().includes(token))).toEqual([]);
    const shown = [...exposed, await log(), JSON.stringify(await company.events(next.id))].join("\n");
    expect([...tokens, ...capabilities].filter((secret) => shown.includes(secret))).toEqual([]);
    await nothingLeft(stage, agent);
  },
);
