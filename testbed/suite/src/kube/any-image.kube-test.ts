import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createEngine } from "@paperclip-k8s/engine";
import { loadTestImage, openCluster, type TestImageName } from "@paperclip-k8s/kube";
import type { LlmRequest } from "@paperclip-k8s/llm";
import { createAdapter } from "@paperclip-k8s/paperclip";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliName, loadKits } from "../../../../packages/adapters.ts";
import { type AgentRan, type Agents, openAgents } from "../agents.ts";
import { settingsFor } from "../bed.ts";
import { bedPolicy } from "../bed-policy.ts";

// The same task in images of every kind: processes of the embedded cluster all see the files of this machine.

const cluster = openCluster();
const kits = await loadKits();
let stage: Agents;
let toolsImage: string;
beforeAll(async () => {
  stage = await openAgents();
  toolsImage = await loadTestImage(cluster, "tools");
});
afterAll(async () => {
  await stage?.stop();
  cluster.close();
});

type Mount = "image-volume" | "copy";
const offered = (mount: Mount, rest = "") => `tools: { image: "${toolsImage}", mount: ${mount} }\n${rest}`;
const WRITABLE = "force: { readOnlyRootFilesystem: false }";

/** Bytes that a shell, a pipe or a wrong C library would spoil, which CLI is at work, and what it may write to. */
const PROMPT = `bash:printf 'z\\303\\274ge\\t\\342\\202\\254 "$$"\\n' | tee result.txt; readlink /proc/$PPID/exe; touch /home/agent/x 2>/dev/null && echo writable || echo read-only`;
const PRINTED = 'züge\t€ "$$"\n';

interface Wish {
  readonly cli: CliName;
  readonly image: string;
  readonly policy?: string;
  readonly tools?: "auto" | "always" | "never";
  /** Servers of another instance do not know what this one has found out about an image. */
  readonly instance?: string;
}

async function work({ cli, image, policy = "", tools = "auto", instance = "default" }: Wish) {
  const before = stage.bed.requests.length;
  const config = { image, tools };
  const ran = await stage.run({ cli, agent: randomUUID(), prompt: PROMPT, policy, config, serverEnv: { PAPERCLIP_INSTANCE_ID: instance } });
  const creates = stage.bed.requests.slice(before).filter(({ verb, resource }) => verb === "create" && resource === "jobs");
  const [printed = "", program, root] = toolOutput(ran.turns.at(-1)).split(/(?<=\n)/);
  return { ...ran, printed, program: program?.trim(), root: root?.trim(), jobs: creates.length };
}

/** What the model got of the output of the tool. */
function toolOutput(turn: LlmRequest | undefined): string {
  const textOf = (content: unknown): string =>
    typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => textOf(part.text ?? part.content)).join("") : "";
  const ofTools = (turn?.messages ?? []).flatMap(({ role, content }) =>
    role === "tool"
      ? [textOf(content)]
      : Array.isArray(content)
        ? content.filter(({ type }) => type === "tool_result").map((part) => textOf(part.content))
        : [],
  );
  return ofTools.join("");
}

/** The part of a result that is the same in every image. */
async function essence({ result, session, printed }: Awaited<ReturnType<typeof work>>) {
  const { exitCode, timedOut, errorMessage, errorCode, summary, usage, costUsd, model, provider, biller, billingType } = result;
  const file = await readFile(join(String(session?.cwd), "result.txt"), "utf8");
  return { exitCode, timedOut, errorMessage, errorCode, summary, usage, costUsd, model, provider, biller, billingType, printed, file };
}

const ownProgram = (cli: CliName) => `/usr/local/bin/${cli}`;
const toolsProgram = (cli: CliName) => `/opt/agent-tools/bin/${cli}`;

const references = new Map<CliName, ReturnType<typeof essence>>();
/** The same task in the image that has everything. */
function reference(cli: CliName): ReturnType<typeof essence> {
  const known = references.get(cli);
  if (known !== undefined) return known;
  const made = work({ cli, image: cluster.images.agent, policy: WRITABLE }).then(async (ran) => {
    expect(ran, ran.log).toMatchObject({ printed: PRINTED, program: ownProgram(cli), jobs: 1 });
    return essence(ran);
  });
  references.set(cli, made);
  return made;
}

const NO_NODE = "has no Node";
const OLD_NODE = "has a Node that is too old";
const NO_CLI = "does not have the agent's CLI";

/** Each image with one CLI; the other one, which takes longer, in the two whose C libraries differ. */
const KINDS = [
  ["Debian slim without Node", "slim", "claude", NO_NODE, ["copy", "image-volume"]],
  ["Debian slim without Node", "slim", "opencode", NO_NODE, ["image-volume", "copy"]],
  ["Alpine-like, with musl", "musl", "claude", NO_NODE, ["image-volume", "copy"]],
  ["Alpine-like, with musl", "musl", "opencode", NO_NODE, ["copy", "image-volume"]],
  ["an old Node", "old-node", "claude", OLD_NODE, ["copy", "image-volume"]],
  ["Node and no CLI", "only-node", "claude", NO_CLI, ["image-volume", "copy"]],
] as const satisfies readonly (readonly [string, TestImageName, CliName, string, readonly [Mount, Mount]])[];

describe("what the image lacks comes from the tools image", () => {
  test.each(KINDS)("%s (%s), %s: the first run finds it out and goes on, the second begins with the tools", async (...row) => {
    const [, name, cli, lacks, [firstMount, secondMount]] = row;
    const image = await loadTestImage(cluster, name);
    const note = `Node and the agent's CLI come from tools image ${toolsImage}, because image ${image} ${lacks}`;

    const first = await work({ cli, image, policy: offered(firstMount, WRITABLE) });
    expect(first.log).toContain(`${note}; starting again`);
    expect(first).toMatchObject({ program: toolsProgram(cli), root: "writable", jobs: 2 });
    expect(await essence(first)).toEqual(await reference(cli));

    const second = await work({ cli, image, policy: offered(secondMount, WRITABLE) });
    expect(second.log).toContain(`${note}\n`);
    expect(second.log).not.toContain("starting again");
    expect(second).toMatchObject({ program: toolsProgram(cli), root: "writable", jobs: 1 });
    expect(await essence(second)).toEqual(await reference(cli));
  });

  test.each(["image-volume", "copy"] as const)("a read-only root, by %s", async (mount) => {
    const image = await loadTestImage(cluster, "slim");
    const ran = await work({ cli: "claude", image, policy: offered(mount), instance: `read-only-${mount}` });
    expect(ran, ran.log).toMatchObject({ program: toolsProgram("claude"), root: "read-only", jobs: 2 });
    expect(await essence(ran)).toEqual(await reference("claude"));
  });
});

test("the host's git launcher starts in an image without Node, by the Node of the tools", async () => {
  const host = createServer((request, response) => {
    const isBroker = request.url === "/runtime-tools/github/credentials" && request.headers["x-paperclip-github-capability"] === "permit";
    const env = { GIT_AUTHOR_NAME: "otto", GH_TOKEN: "of this call" };
    response.writeHead(isBroker ? 200 : 404).end(JSON.stringify({ status: "available", env }));
  });
  await new Promise<void>((resolve) => host.listen(0, stage.bed.hostAddress, resolve));
  try {
    const image = await loadTestImage(cluster, "slim");
    await writeFile(join(stage.tools, "git"), '#!/bin/sh\necho "$1 as $GIT_AUTHOR_NAME, with the token $GH_TOKEN"\n', { mode: 0o755 });
    const ran = await stage.run({
      ...{ cli: "claude", agent: randomUUID(), prompt: "bash:command -v node; git push", policy: offered("copy") },
      config: { image, tools: "always" },
      env: { PATH: `${stage.tools}:/usr/bin:/bin`, PAPERCLIP_GITHUB_LAUNCHER_DIR: "/tmp/x", PAPERCLIP_GITHUB_BROKER_TOKEN: "permit" },
      serverEnv: { PAPERCLIP_API_URL: `http://${stage.bed.hostAddress}:${(host.address() as AddressInfo).port}` },
    });
    expect(toolOutput(ran.turns.at(-1)), ran.log).toBe("/opt/agent-tools/bin/node\npush as otto, with the token of this call");
  } finally {
    host.close();
    host.closeAllConnections();
  }
});

describe("an image with Node and another version of the CLI", () => {
  const versionOf = ({ result }: AgentRan) => (result.resultJson as { state: { last: { version: string } } }).state.last.version;

  test("keeps its own, unless the agent's settings want the tools always", async () => {
    const image = await loadTestImage(cluster, "other-cli");
    const own = await work({ cli: "claude", image, policy: offered("copy") });
    expect(own.log).not.toContain("tools image");
    expect(own).toMatchObject({ program: ownProgram("claude"), jobs: 1 });
    expect(await essence(own)).toEqual(await reference("claude"));
    for (const mount of ["copy", "image-volume"] as const) {
      const always = await work({ cli: "claude", image, policy: offered(mount), tools: "always" });
      expect(always.log).toContain(`come from tools image ${toolsImage}, as the setting Agent tools (tools) says`);
      expect(always).toMatchObject({ program: toolsProgram("claude"), jobs: 1 });
      expect(await essence(always)).toEqual(await reference("claude"));
      expect(versionOf(always)).not.toBe(versionOf(own));
    }
  });
});

describe("without a tools image", () => {
  test.each([
    ["the policy offers none", "", "auto", /`tools: \{ image: .*docs\/images\.md/],
    ["the agent's settings say never", "offered", "never", /set Agent tools \(tools\) to auto/],
  ] as const)("%s: the run fails and says what the image lacks and what to do", async (_, policy, tools, advice) => {
    const image = await loadTestImage(cluster, "slim");
    const { result, jobs } = await work({ cli: "claude", image, policy: policy === "" ? "" : offered("copy"), tools, instance: "without" });
    expect(result).toMatchObject({
      errorCode: "configuration_incomplete",
      errorMessage: expect.stringContaining(`Image ${image} ${NO_NODE}`),
    });
    expect(result.errorMessage).toMatch(advice);
    expect(jobs).toBe(1);
  });
});

describe("the Test button", () => {
  async function press(image: string, policy: string) {
    const { cli } = kits.claude;
    const adapter = createAdapter(cli, {
      engine: createEngine(),
      serverEnv: { ...bedPolicy(stage.bed.data, policy), PAPERCLIP_INSTANCE_ID: "button" },
    });
    const config = { ...settingsFor(stage.bed), image, env: { ANTHROPIC_API_KEY: "key-0123456789" } };
    const { checks } = await adapter.testEnvironment({ companyId: "company-1", adapterType: cli.type, config });
    return (code: string) => checks.find((check) => check.code === code);
  }

  test("says which way is used: the image's own, the tools and why, or that there are none", async () => {
    const image = await loadTestImage(cluster, "slim");
    const full = await press(cluster.images.agent, offered("copy"));
    expect(full("tools_used")).toBeUndefined();
    expect(full("cli_found")?.level).toBe("info");
    const lacking = await press(image, "");
    expect(lacking("runtime_missing")).toMatchObject({ level: "error", hint: expect.stringContaining("tools:") });
    // The first finds out what the image lacks, the second knows it.
    for (const mount of ["copy", "image-volume"] as const) {
      const helped = await press(image, offered(mount));
      expect(helped("tools_used")).toMatchObject({
        level: "info",
        message: expect.stringContaining(`${toolsImage}, because image ${image} ${NO_NODE}`),
      });
      expect(helped("cli_found")?.level).toBe("info");
      expect(helped("runtime_missing")).toBeUndefined();
    }
  });
});
