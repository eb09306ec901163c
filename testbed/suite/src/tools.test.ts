import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyToolsText } from "@paperclip-k8s/runner/copy-tools-text";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Agents, openAgents } from "./agents.ts";
import { onKube } from "./bed.ts";

// An image that has neither Node nor the CLI, and a tools image that has Node. Pods of the embedded cluster have this machine's files, so
// the tools' CLI is not at its path there: that runs end well is shown on the real cluster (any-image.kube-test.ts).

const scratch = mkdtempSync(join(tmpdir(), "tools-"));
const tools = join(scratch, "tools");
const empty = join(scratch, "empty");
let stage: Agents;
beforeAll(async () => {
  if (onKube) return;
  for (const folder of [empty, join(tools, "bin"), join(tools, "lib")]) mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, join(tools, "bin/node"));
  writeFileSync(join(tools, "bin/opencode"), "");
  writeFileSync(join(tools, "ld.so"), "");
  writeFileSync(join(tools, "copy.cjs"), copyToolsText);
  chmodSync(scratch, 0o755);
  const folders = { "/": tools, "/opt/agent-tools": tools };
  const bare = { path: [empty] };
  stage = await openAgents({
    images: { "bare:1": bare, "bare-copy:1": bare, "bare-image-volume:1": bare, "tools:1": { ...bare, folders } },
  });
});
afterAll(async () => {
  await stage?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const jobs = (): number => stage.bed.requests.filter(({ verb, resource }) => verb === "create" && resource === "jobs").length;

async function run(config: Record<string, unknown>, policy = "") {
  const before = jobs();
  const ran = await stage.run({ cli: "opencode", prompt: "hello", task: randomUUID(), config, policy });
  return { ...ran, jobs: jobs() - before };
}

test.skipIf(onKube)("without tools: the image, what it lacks and what to do are named, and nothing is tried twice", async () => {
  const { result, jobs } = await run({ image: "bare:1" });
  expect(result).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: expect.stringContaining("Image bare:1 has no Node"),
  });
  expect(result.errorMessage).toContain("`tools: { image: <your tools image>, mount: copy }`");
  expect(jobs).toBe(1);
});

test.skipIf(onKube).each(["copy", "image-volume"])(
  "%s: the second attempt has the tools; the next run of the image begins with them",
  async (mount) => {
    const policy = `tools: { image: "tools:1", mount: ${mount} }`;
    const image = `bare-${mount}:1`;
    const first = await run({ image }, policy);
    expect(first.jobs).toBe(2);
    const note = `Node and the agent's CLI come from tools image tools:1, because image ${image} has no Node`;
    expect(first.log).toContain(note);
    expect(first.log).toMatch(/cannot run "\/opt\/agent-tools\/bin\/opencode"/);
    expect(first.result.errorMessage).toContain("It was looked for in tools image tools:1");
    const second = await run({ image }, policy);
    expect(second.jobs).toBe(1);
    expect(second.log).toContain(note);
    const never = await run({ image, tools: "never" }, policy);
    expect(never.result.errorMessage).toContain("set Agent tools (tools) to auto");
  },
);

test.skipIf(onKube)("always: from the beginning; without a tools image nothing is started", async () => {
  const asked = await run({ image: "bare:1", tools: "always" }, `tools: { image: "tools:1" }`);
  expect(asked.jobs).toBe(1);
  expect(asked.log).toContain("as the setting Agent tools (tools) says");
  const refused = await run({ image: "bare:1", tools: "always" });
  expect(refused.jobs).toBe(0);
  expect(refused.result.errorMessage).toMatch(/always needs a tools image; the operator's policy offers none/);
});
