import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, expect, inject, test } from "vitest";
import { TYPES } from "../src/agent-kinds.ts";
import { type Agent, Company } from "../src/host/company.ts";
import { WRONG_COMMAND } from "../src/try/agents/agents.ts";
import { until } from "../src/wait.ts";

// The newcomer's command, as npm starts it.

const MAIN = join(import.meta.dirname, "../src/try/main.ts");
// All it leaves would be here; it gives up root, so anybody may write.
const place = mkdtempSync(join(tmpdir(), "try-"));
chmodSync(place, 0o777);
let child: ReturnType<typeof spawn> | null = null;
afterEach(() => void child?.kill("SIGKILL"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

interface Trying {
  said(): string;
  readonly ended: Promise<number | null>;
  write(line: string): void;
  /** Until it has said so; what it said instead, if it never does. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

function start(...args: string[]): Trying {
  let said = "";
  const own = spawn(process.execPath, [MAIN, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: place, PACKED_ADAPTERS: inject("packed").folder },
  });
  child = own;
  const hear = (chunk: Buffer) => {
    said += chunk;
  };
  own.stdout.on("data", hear);
  own.stderr.on("data", hear);
  const says = (pattern: RegExp) =>
    until(String(pattern), async () => {
      if (own.exitCode !== null && !pattern.test(said)) throw new Error(`it ended with ${own.exitCode}`);
      return pattern.exec(said);
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${said}`);
    });
  return {
    said: () => said,
    ended: new Promise((resolve) => own.once("close", resolve)),
    write: (line) => own.stdin.write(`${line}\n`),
    says,
  };
}

/** What is typed in another terminal, as it was printed there. */
const typed = promisify(execFile);

test("the address starts live runs as Jobs; the server is killed under them, its agents work on, and nobody has to act; paused, the same agents run inside the server, and then as Jobs again; a server that ends by itself is reported, and Ctrl-C leaves nothing", async () => {
  const { said, says, write, ended } = start();
  const [, address, command] = await says(/Open +(\S+) [\s\S]*Command line +(\S+) status[\s\S]*Keys/);
  expect(said()).not.toMatch(/: running/);
  const answer = await fetch(address!);
  expect(answer.status).toBe(200);
  expect(answer.url).toMatch(/\/agents\/[^/]+\/runs\//);
  expect(await answer.text()).toContain("<title>");
  await until("two Jobs", async () => /2 of them at work/.test((await typed(command!, ["status"])).stdout));
  expect((await typed(command!, ["policy"])).stdout).toMatch(/policy\.yaml is valid; in force is:[\s\S]*defaults\.dataClaim +data/);

  child?.kill("SIGUSR2");
  await says(/kill -9 of the server/);
  const page = answer.url;
  const answers = () =>
    fetch(page).then(
      ({ ok }) => ok,
      () => false,
    );
  await until("the server's end", async () => !(await answers()));
  await says(/no server {2}\w+: step \d+ of 18/);
  // Each of the two issues: lost with its server, and its whole result in the run that follows, which nobody asked for.
  await says(/(: failed \(process_lost\)[\s\S]*){2}/);
  await says(/(: scheduled_retry[\s\S]*){2}/);
  await says(/(: succeeded as a Job, 1\d{3} tokens out, \$0\.0\d[\s\S]*){2}/);
  await says(/(TRY-\d+ is done[\s\S]*){2}/);
  expect((await typed(command!, ["recover"])).stdout).toContain("no issue is held");

  // The same agents on both sides; a visitor's own, which have a name and a type and nothing else, are Jobs.
  const company = await Company.open({ url: new URL(page).origin }, "Try it");
  const staff = (await company.agents()).filter(({ name }) => name !== WRONG_COMMAND);
  const own: Agent[] = [];
  for (const type of TYPES) own.push(await company.hire(`My ${type}`, type, {}));
  for (const [state, where] of [
    ["paused", "inside the server"],
    ["resumed", "as a Job"],
  ] as const) {
    write("p");
    await says(new RegExp(`${state} \\w+_local and \\w+_local`));
    // The host takes a second issue with the same words for a mistake.
    for (const { id, name } of [...staff, ...own]) await company.assign(id, `${name}, look around while ${state}`, "Say what you see.");
    for (const { name } of staff) await says(new RegExp(`${name} on TRY-\\d+: succeeded ${where}`));
    for (const { name } of own) await says(new RegExp(`${name} on TRY-\\d+: succeeded as a Job`));
  }

  process.kill(Number(readFileSync(join(dirname(command!), "server.pid"), "utf8")), "SIGKILL");
  await says(/The server has ended by itself \(SIGKILL\)/);
  write("r");
  await until("the server again", answers);

  child?.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(said()).toContain("Nothing is left behind.");
  expect(readdirSync(place)).toEqual([]);
});

test("an unknown option is reported, with the help", async () => {
  const { said, ended } = start("--cube");
  expect(await ended).toBe(2);
  expect(said()).toMatch(/Unknown option[\s\S]*npm run paperclip -- --kube/);
});
