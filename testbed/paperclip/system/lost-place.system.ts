import { cpSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { cliNames } from "../../../packages/adapters.ts";
import { adaptersOf } from "../src/host/adapters.ts";
import type { Agent, Issue, Run } from "../src/host/company.ts";
import { nextRun, runEnd } from "../src/host/follow.ts";
import type { Version } from "../src/server/release.ts";
import { dropRoot } from "../src/server/user.ts";
import { builtInConfig, openStage, type Stage } from "../src/stage.ts";
import { HOSTS } from "./breadth.ts";
import { operator } from "./operator-cli.ts";

// A built-in type whose place our package has taken, and does no longer: what is said, and that no agent runs in a server without CLIs.

let stage: Stage;
let folder: string;
const packageOf = (cli: string): string => join(folder, `paperclip-adapter-${cli}-local-k8s`);
const entryOf = (cli: string): string => join(packageOf(cli), "dist/index.js");

async function open(version: Version): Promise<void> {
  dropRoot();
  folder = join(realpathSync(mkdtempSync(join(tmpdir(), "lost-place-"))), "node_modules");
  cpSync(inject("packed").folder, folder, { recursive: true });
  // As in the server's image: git, and no CLI.
  const env = { PATH: `${dirname(realpathSync(process.execPath))}:/usr/bin:/bin` };
  stage = await openStage(inject("packed"), { version, builtIn: true, env, say: (line) => console.log(line) });
}
afterEach(async () => {
  await stage?.stop();
  rmSync(dirname(folder), { recursive: true, force: true });
});

/** By type, what `status` says of it; its exit code tells a place that is not ours from all else. */
async function places(): Promise<Record<string, string>> {
  const { code, out } = await operator(stage, ["status", "-n", stage.namespace]);
  expect(code).toBe(/^\w+_local +(paused|lost):/m.test(out) ? 3 : 0);
  return Object.fromEntries([...out.replace(/\n {4,}/g, " ").matchAll(/^(\w+_local) +(.*)$/gm)].map(([, type, text]) => [type, text]));
}
const taken = (cli: string) =>
  expect.stringMatching(new RegExp(`^taken by paperclip-adapter-${cli}-local-k8s \\d+\\.\\d+\\.\\d+: agents run as Jobs$`));
const everyPlace = (text: (cli: string) => unknown) => Object.fromEntries(cliNames.map((cli) => [`${cli}_local`, text(cli)]));

interface Worker {
  readonly cli: string;
  readonly agent: Agent;
  readonly issue: Issue;
  last: Run | undefined;
}

async function hire(cli: (typeof cliNames)[number]): Promise<Worker> {
  // The program of the other engine is part of the release; the server's image has neither.
  const config = { ...builtInConfig(stage.llm, `${cli}_k8s`), engine: "cli" };
  const agent = await stage.company.hire(`Agent of ${cli}`, `${cli}_local`, config);
  const issue = await stage.company.assign(agent.id, `Task of ${cli}`, "say:at work");
  const worker: Worker = { cli, agent, issue, last: undefined };
  worker.last = await ended(worker);
  return worker;
}

const ended = async ({ agent, last }: Worker): Promise<Run> => runEnd(stage.company, (await nextRun(stage.company, agent, last)).id);

async function again(worker: Worker): Promise<Run> {
  // The host may have started one more by itself: an agent that leaves its issue open is asked what became of it.
  const [newest] = await stage.company.runs(worker.agent.id);
  if (newest !== undefined) worker.last = await runEnd(stage.company, newest.id);
  await stage.company.update(worker.issue.id, { status: "todo" });
  await stage.company.comment(worker.issue.id, "say:again");
  worker.last = await ended(worker);
  return worker.last;
}

const created = () => stage.cluster.requests.filter(({ verb }) => verb === "create").length;

async function failsInServer(worker: Worker): Promise<void> {
  const [jobs, asked] = [created(), stage.llm.requests.length];
  const run = await again(worker);
  expect(run).toMatchObject({ status: "failed", error: expect.stringContaining(worker.cli) });
  expect([created(), stage.llm.requests.length]).toEqual([jobs, asked]);
}

test.each(HOSTS)(
  "Paperclip %s: taken, paused and taken again after a restart; lost when a package is broken: said by status, and no agent runs in the server",
  async (version) => {
    await open(version);
    const { host } = stage;
    expect(await places()).toEqual(everyPlace(() => "built-in: agents run inside the server"));
    for (const cli of cliNames) await adaptersOf(host).install(packageOf(cli));
    expect(await places()).toEqual(everyPlace(taken));
    const workers = await Promise.all(cliNames.map(hire));
    for (const { last } of workers) expect(last).toMatchObject({ status: "succeeded", resultJson: { job: expect.anything() } });

    const [first] = workers;
    await adaptersOf(host).pause(`${first!.cli}_local`, true);
    expect(await places()).toMatchObject({
      [`${first!.cli}_local`]: expect.stringMatching(/^paused: agents run inside the server until .* is resumed or/),
    });
    await failsInServer(first!);
    await host.restart();
    expect(await places()).toEqual(everyPlace(taken));

    await host.end("SIGTERM");
    const check = () => operator(stage, ["check-adapters"]);
    expect(await check()).toMatchObject({ code: 0 });
    const [truncated, missing] = cliNames;
    const whole = readFileSync(entryOf(truncated), "utf8");
    writeFileSync(entryOf(truncated), whole.slice(0, whole.length / 2));
    renameSync(entryOf(missing!), `${entryOf(missing!)}.away`);
    const refused = await check();
    expect(refused).toMatchObject({ code: 3, out: expect.stringContaining("Paperclip must not start like this") });
    for (const cli of cliNames) expect(refused.out).toContain(`${cli}_local: ${packageOf(cli)} cannot be loaded: `);

    // Somebody's own Deployment, which does not ask that before.
    await host.start();
    expect(host.log().match(/Failed to dynamically load external adapter/g)).toHaveLength(cliNames.length);
    expect(await places()).toEqual(
      everyPlace((cli) => expect.stringMatching(new RegExp(`^lost: paperclip-adapter-${cli}-local-k8s .* did not load`))),
    );
    for (const worker of workers) await failsInServer(worker);

    writeFileSync(entryOf(truncated), whole);
    renameSync(`${entryOf(missing!)}.away`, entryOf(missing!));
    await host.restart();
    expect(await places()).toEqual(everyPlace(taken));
    for (const worker of workers) expect(await again(worker)).toMatchObject({ status: "succeeded" });
  },
);
