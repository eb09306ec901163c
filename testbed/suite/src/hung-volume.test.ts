import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";
import { type CachedMount, mountCached, whyNoCachedMount } from "./cached-mount.ts";
import type { ServerCommand, ServerEvent } from "./hung-server.ts";
import { placeRecordedCli } from "./recorded-cli.ts";

// A mount that hangs costs its own runs and nothing else: the server's other runs, new runs, DNS, files and exit go on.

const unable = whyNoCachedMount();
let stage: Agents;
let folder: string;
let mount: CachedMount;
let hung: string;

beforeAll(async () => {
  if (unable !== null) return;
  stage = await openAgents();
  folder = await realpath(await mkdtemp(join(tmpdir(), "hung-")));
  hung = join(folder, "seen");
  mount = await mountCached(await stage.bed.addVolume("hung"), hung, 0);
  await writeFile(join(hung, "AGENTS.md"), "Be kind.");
});

afterAll(async () => {
  mount?.thaw();
  await mount?.unmount();
  await stage?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** A real server in a process of its own. */
function startServer() {
  const { bed, llm } = stage;
  const { kubeconfig, namespace, images, data } = bed;
  const surroundings = { bed: { kubeconfig, namespace, images, data }, llm: { url: llm.url } };
  const script = fileURLToPath(new URL("hung-server.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(surroundings)], { stdio: ["pipe", "pipe", "inherit"] });
  const events: ServerEvent[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    events.push(...lines.map((line) => JSON.parse(line) as ServerEvent));
  });
  const result = (name: string) => events.find((event) => event.type === "result" && event.name === name);
  return {
    child,
    send: (command: ServerCommand) => void child.stdin.write(`${JSON.stringify(command)}\n`),
    answered: () => events.filter(({ type }) => type === "answered").length,
    log: (name: string) => events.flatMap((event) => (event.type === "log" && event.name === name ? [event.line] : [])).join("\n"),
    result,
    results: (names: readonly string[]) => names.map((name) => result(name)),
  };
}

test.skipIf(unable !== null)(
  `five runs on a mount that hangs: other runs, new runs, DNS, files and exit of the server go on${unable === null ? "" : ` (${unable})`}`,
  async () => {
    const server = startServer();
    const onHung = (agent: string) => ({
      dataClaim: "hung",
      dataPath: hung,
      instructionsFilePath: join(hung, `instances/default/companies/company-1/agents/${agent}/AGENTS.md`),
    });
    const other = await placeRecordedCli(join(stage.tools, "other"), "claude", ["success"], { hold: true });
    const next = await placeRecordedCli(join(stage.tools, "next"), "opencode", ["success"]);
    try {
      server.send({ type: "run", name: "other", run: { cli: "claude", prompt: "hello", config: { command: other.command } } });
      await expect.poll(() => server.log("other")).toContain("CLI started");
      mount.freeze();
      const names = ["hung-0", "hung-1", "hung-2", "hung-3", "hung-4"];
      for (const [index, name] of names.entries()) {
        const cli = index % 2 === 0 ? "claude" : "opencode";
        server.send({ type: "run", name, run: { cli, agent: name, prompt: "hello", config: onHung(name) } });
      }
      // Probed until all of them have met the mount, and once more then.
      const probe = async () => {
        const before = server.answered();
        server.send({ type: "probe" });
        await expect.poll(() => server.answered(), { message: "DNS and files of the server answer" }).toBeGreaterThan(before);
      };
      for (let meeting = true; meeting; ) {
        meeting = server.results(names).some((result) => result === undefined);
        await probe();
      }
      for (const result of server.results(names)) expect(result).toMatchObject({ exitCode: null, errorCode: "k8s_volume_unusable" });
      server.send({ type: "run", name: "next", run: { cli: "opencode", prompt: "hello", config: { command: next.command } } });
      await expect.poll(() => server.result("next"), { message: "a new run on a healthy volume" }).toMatchObject({ exitCode: 0 });
      await other.release();
      await expect.poll(() => server.result("other"), { message: "the run beside" }).toMatchObject({ exitCode: 0 });
      // The sixth is under way when the server exits.
      server.send({ type: "run", name: "last", run: { cli: "claude", prompt: "hello", agent: "last", config: onHung("last") } });
      server.send({ type: "exit" });
      const [code] = await once(server.child, "exit");
      expect(code).toBe(0);
    } finally {
      mount.thaw();
      server.child.kill("SIGKILL");
    }
  },
);
