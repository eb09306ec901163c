import { afterAll, beforeAll, expect, test } from "vitest";
import { npmPrograms } from "./images.ts";
import { openCluster } from "./index.ts";
import { type Scratch, scratch } from "./scratch.ts";

const cluster = openCluster();
let place: Scratch;
beforeAll(async () => {
  place = await scratch(cluster.admin);
});
afterAll(async () => {
  await place.remove();
  cluster.close();
});

const shell = (script: string, more: object = {}) => ({
  containers: [{ name: "c", image: cluster.images.shell, command: ["sh", "-c", script], ...more }],
});

test("a memory limit is enforced", async () => {
  const within = await place.run(
    "within",
    shell("head -c 8000000 /dev/zero | tail -c 8000000 | wc -c", { resources: { limits: { memory: "64Mi" } } }),
  );
  expect(within).toMatchObject({ phase: "Succeeded", log: "8000000\n" });
  const beyond = await place.run("beyond", shell("exec tail -c 200000000 /dev/zero", { resources: { limits: { memory: "32Mi" } } }));
  expect(beyond.phase).toBe("Failed");
  expect(beyond.pod.status.containerStatuses?.[0]?.state.terminated).toMatchObject({ reason: "OOMKilled", exitCode: 137 });
});

test.each(["Default", "ClusterFirst"])("a lookup fails at once with dnsPolicy %s", async (dnsPolicy) => {
  const script = `
    const since = performance.now();
    require("node:dns").lookup("registry.example", (error) => console.log(error.code, Math.round(performance.now() - since)));`;
  const containers = [{ name: "c", image: cluster.images.agent, command: ["node", "-e", script] }];
  const { log } = await place.run(`dns-${dnsPolicy.toLowerCase()}`, { dnsPolicy, containers });
  const [code, ms] = log.trim().split(" ");
  expect(code).toMatch(/EAI_AGAIN|ENOTFOUND/);
  expect(Number(ms)).toBeLessThan(1000);
});

test("the agent image has its programs, in the versions of this project, for uid 1000", async () => {
  const script = `id -u; touch ~/x && echo $HOME; node --version; opencode --version; claude --version
    git --version; rg --version | head -1; ps --version; curl --version > /dev/null 2>&1 || echo no curl; git ls-remote https://x.invalid 2>&1 | tail -1`;
  const containers = [
    { name: "c", image: cluster.images.agent, command: ["bash", "-c", script], resources: { limits: { memory: "1Gi" } } },
  ];
  const { log } = await place.run("programs", { containers });
  const [node, opencode, claude] = npmPrograms().map(({ version }) => version);
  expect(log).toMatch(/^1000\n\/home\/agent\n/);
  expect(log).toContain(`v${node}\n${opencode}\n${claude} (Claude Code)\ngit version 2`);
  expect(log).toContain("ripgrep");
  expect(log).toContain("procps");
  expect(log).toContain("Could not resolve host");
});
