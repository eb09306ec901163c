import { randomUUID } from "node:crypto";
import { readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import { type AgentCli, createAdapter } from "@paperclip-k8s/paperclip";
import { hostContext } from "@paperclip-k8s/paperclip/testing";
import { exampleCli } from "@paperclip-k8s/paperclip/testing/example-cli";
import { silentReport } from "@paperclip-k8s/paperclip/testing/silent-report";
import { TEST_POLICY } from "@paperclip-k8s/paperclip/testing/test-policy";
import { cleanupGitHubOperationLaunchers, prepareGitHubOperationLaunchers } from "@paperclipai/adapter-utils/execution-target";
import { githubBrokerEnvironment } from "@paperclipai/adapter-utils/github-launcher";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, settingsFor, startBed } from "./bed.ts";
import { type GitServer, openGitServer, REPOSITORY } from "./git-server.ts";

// git in a pod, through the host's launchers: each call asks the host for a credential, in the name of the run that owns the Job. The host's route
// is played here, with the rules of 2026.916; its variables and its launchers are made by its own library. The real route: github.system.ts.

let bed: Bed;
let git: GitServer;
let server: Server;
let url: string;
/** The run that the host shows as running; all others are lost. */
let owner = { runId: "", token: "", capability: "" };

beforeAll(async () => {
  bed = await startBed();
  git = await openGitServer("password-1");
  server = createServer((request, response) => {
    const { method, url: path = "" } = request;
    const run = /^\/api\/heartbeat-runs\/([^/]+)$/.exec(path)?.[1];
    if (path.startsWith(`/${REPOSITORY}`)) return git.handle(request, response);
    if (method === "POST" && path === "/runtime-tools/github/credentials")
      return answer(isOwners(request) ? [200, credential()] : [403, REFUSED]);
    if (run)
      return answer([200, { id: run, ...(run === owner.runId ? { status: "running" } : { status: "failed", errorCode: "process_lost" }) }]);
    return answer([404, {}]);
    function answer([status, body]: [number, unknown]): void {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, bed.hostAddress, resolve));
  url = `http://${bed.hostAddress}:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.close();
  server?.closeAllConnections();
  git?.close();
  // What the library leaves; other tests may be using it.
  await rmdir(join(tmpdir(), "paperclip-github-runtime")).catch(() => {});
  await bed?.stop();
});

const REFUSED = { error: "Credential acquisition requires this agent's active run" };
const isOwners = ({ headers }: IncomingMessage): boolean =>
  headers.authorization === `Bearer ${owner.token}` && headers["x-paperclip-github-capability"] === owner.capability;
const credential = () => ({
  status: "available",
  env: {
    PAPERCLIP_GIT_TOKEN: git.password,
    ...{ GIT_AUTHOR_NAME: "otto", GIT_AUTHOR_EMAIL: "o@x.test", GIT_COMMITTER_NAME: "otto", GIT_COMMITTER_EMAIL: "o@x.test" },
    ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: `credential.${url}.helper` },
    GIT_CONFIG_VALUE_0: `!f() { echo username=x-access-token; echo "password=$PAPERCLIP_GIT_TOKEN"; }; f`,
  },
});

/** Clones, and then makes and pushes one commit for each gate; the second one in a shell that sets its PATH anew. */
const work = (gate: string) => `cd "$HOME" && git clone -q ${url}/${REPOSITORY} app 2>&1 && cd app || exit 1
  step() { git commit -q --allow-empty -m "$1" && git push -q origin HEAD:main && echo "pushed $1"; }; export -f step
  step one 2>&1; until test -e ${gate}-two; do sleep 0.1; done; bash -lc "step two" 2>&1; until test -e ${gate}-three; do sleep 0.1; done; step three 2>&1`;

const gitCli = (script: string): AgentCli => ({
  ...exampleCli,
  state: undefined,
  plan: () => ({ argv: ["bash", "-c", script], plainEnv: {}, secretEnv: {}, notes: [] }),
  createParser: () => ({
    push: (text) => [{ kind: "other", text }],
    report: () => ({ ...silentReport, text: "done", outputTokens: 1, finished: true, events: 1 }),
    fault: () => null,
  }),
});

/** A run as a host starts it whose company has a GitHub connection, on a server of its own. */
async function startRun(script: string, agent: string, retryOfRunId?: string) {
  const runId = randomUUID();
  owner = { runId, token: `token-${runId}`, capability: `capability-${runId}` };
  const env = await prepareGitHubOperationLaunchers({
    runId,
    target: null,
    cwd: bed.data,
    env: githubBrokerEnvironment({}, { url, token: owner.capability }),
  });
  const { ctx, log, meta } = hostContext({
    runId,
    agent,
    taskKey: "task-1",
    config: { ...settingsFor(bed), env, graceSec: 5 },
    context: { taskId: "task-1", ...(retryOfRunId === undefined ? {} : { retryOfRunId }) },
    change: { authToken: owner.token },
  });
  const adapter = createAdapter(gitCli(script), {
    engine: createEngine(),
    serverEnv: { ...TEST_POLICY, PATH: process.env.PATH, PAPERCLIP_API_URL: url, PAPERCLIP_HOME: bed.data },
    pollMs: 100,
  });
  const done = adapter.execute(ctx).finally(() => cleanupGitHubOperationLaunchers({ runId, target: null }));
  return { runId, done, log: () => log() + JSON.stringify(meta) };
}

test("git clones, commits and pushes with the credential of the moment, also after another run has taken the Job over", async () => {
  const agent = randomUUID();
  // In its workspace, which the pod has of the volume.
  const gate = `${bed.data}/instances/default/workspaces/${agent}/gate`;
  const first = await startRun(work(gate), agent);
  await expect.poll(first.log).toContain("pushed one");
  git.password = "password-2";
  await writeFile(`${gate}-two`, "");
  await expect.poll(first.log).toContain("pushed two");
  git.password = "password-3";
  const second = await startRun("exit 1", agent, first.runId);
  await expect.poll(second.log).toContain("adopted Job");
  await writeFile(`${gate}-three`, "");
  await expect.poll(second.log).toContain("pushed three");
  const exposed = JSON.stringify([await bed.list("jobs"), await bed.list("pods"), await bed.list("events")]);
  expect(await second.done, second.log()).toMatchObject({ exitCode: 0 });
  await first.done;
  expect(await git.commits()).toEqual(["otto: one", "otto: two", "otto: three"]);
  for (const text of [exposed, first.log(), second.log(), await volumeText()]) expect(text).not.toMatch(/capability-|password-|token-/);
});

/** What the shared volume holds. */
async function volumeText(): Promise<string> {
  const entries = await readdir(bed.data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => readFile(`${parentPath}/${name}`, "utf8"));
  return (await Promise.all(files)).join("\n");
}
