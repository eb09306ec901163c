import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { RunRequest } from "@paperclip-k8s/engine";
import { loadTestImage, openCluster } from "@paperclip-k8s/kube";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Agents, openAgents } from "../agents.ts";
import type { Bed } from "../bed.ts";
import { calm } from "../calm.ts";
import { finishRun, keyed, type RunOptions, startRun } from "../run.ts";

// Native sidecars: only a real kubelet starts, restarts and ends them. The pods of the embedded cluster have one container at a time.

const cluster = openCluster();
let stage: Agents;
let bed: Bed;
let postgres: string;
beforeAll(async () => {
  postgres = await loadTestImage(cluster, "postgres");
  stage = await openAgents();
  bed = stage.bed;
});
afterEach(() => calm(bed));
afterAll(async () => {
  await stage?.stop();
  cluster.close();
});

/** The example of the guide, with the image of the test cluster, which takes no arguments. */
async function example(): Promise<string> {
  const guide = await readFile(new URL("../../../../docs/policy.md", import.meta.url), "utf8");
  const [, text = ""] = /^```yaml\n(podTemplates:\n[\s\S]*?)^```$/m.exec(guide) ?? [];
  const changed = text.replace(/image: postgres:\d+/, `image: ${postgres}`).replace(/^ *args: .*listen_addresses.*\n/m, "");
  expect(changed).toContain(`image: ${postgres}`);
  expect(changed).not.toContain("args:");
  return changed;
}

describe.each(["opencode", "claude"] as const)("a Postgres beside %s, as in the guide", (cli) => {
  test("its psql talks to it, the Job ends with the agent and is gone", async () => {
    const prompt = `bash:psql -tA -c "create table t(n int)" -c "insert into t select 40 + generate_series(1, 2)" -c "select 'sum', sum(n) from t"`;
    const config = { podTemplate: "postgres", image: postgres };
    const { result, log, runId } = await stage.run({ cli, agent: randomUUID(), prompt, config, policy: await example() });
    expect(result, log).toMatchObject({ exitCode: 0, timedOut: false });
    expect(log).toContain("sum|83");
    const left = async (kind: "jobs" | "pods" | "secrets") =>
      (await bed.list(kind)).filter(({ metadata }) => metadata.labels?.["paperclip.io/run-id"] === runId).length;
    for (const kind of ["jobs", "pods", "secrets"] as const) await expect.poll(() => left(kind)).toBe(0);
  });
});

test("a template that the policy does not offer is refused before anything is made", async () => {
  const config = { podTemplate: "mysql" };
  const { result } = await stage.run({ cli: "opencode", agent: randomUUID(), prompt: "use-tool", config, policy: await example() });
  expect(result.errorMessage).toContain(`"mysql" is no pod template of the operator's policy, which offers postgres`);
});

const NOTES = { name: "notes", mountPath: "/notes" };

/** A run with one container beside it; both have the folder /notes. */
function beside(script: string, options: RunOptions = {}, more: Record<string, unknown> = {}): RunOptions {
  const change = (request: RunRequest): RunRequest => ({
    ...(options.change ?? ((same) => same))(request),
    template: {
      initContainers: [],
      sidecars: [{ name: "beside", image: bed.images.agent, command: ["node", "-e", script], volumeMounts: [NOTES], ...more }],
      volumes: [{ name: "notes", emptyDir: {} }],
      volumeMounts: [NOTES],
      env: [],
    },
  });
  return { ...options, change };
}
const ENDLESS = "setInterval(() => {}, 1000)";
const STUBBORN = `process.on("SIGTERM", () => {}); ${ENDLESS}`;

test("what ends last does not keep the next run of the same key waiting", async () => {
  const first = startRun(bed, keyed("stubborn", beside(STUBBORN, { script: `console.log("first")` })));
  expect((await first.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  await expect.poll(first.jobs).toBe(0);
  const { outcome, output } = await finishRun(bed, keyed("stubborn", beside(STUBBORN, { script: `console.log("second")` })));
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("second\n");
});

test("it has neither the run's Secret nor the shared volume, and no token of the agent's account", async () => {
  const look = `const { existsSync, writeFileSync } = require("node:fs");
    const places = ["/run/agent-input", process.env.DATA, "/agent/home", "/var/run/secrets/kubernetes.io/serviceaccount/token"];
    writeFileSync("/notes/seen", JSON.stringify(places.map((path) => existsSync(path)))); ${ENDLESS}`;
  const script = `const { existsSync, readFileSync } = require("node:fs");
    const t = setInterval(() => { if (!existsSync("/notes/seen")) return; clearInterval(t);
      console.log(readFileSync("/notes/seen", "utf8"), existsSync("/var/run/secrets/kubernetes.io/serviceaccount/token")); }, 20)`;
  const change = (request: RunRequest) => ({ ...request, scheduling: { ...request.scheduling, serviceAccountName: "default" } });
  const env = [{ name: "DATA", value: bed.data }];
  const { outcome, output } = await finishRun(bed, beside(look, { script, change }, { env }));
  expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  expect(output.toString()).toBe("[false,false,false,false] true\n");
});

describe("one that does not start is the run's failure to start, by its own name", () => {
  const PROBE = { startupProbe: { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 600 } };

  test.each<[string, string, Record<string, unknown>, RegExp]>([
    [
      "it ends",
      `console.error("no such folder"); process.exit(3)`,
      PROBE,
      /^sidecar container beside exited with code 3: no such folder, before/,
    ],
    [
      "it needs too much memory",
      "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))",
      { ...PROBE, resources: { limits: { memory: "64Mi" } } },
      /^sidecar container beside exited with code 137 \(OOMKilled\), before/,
    ],
    [
      "its image is not there",
      "",
      { image: "localhost/nowhere:1", imagePullPolicy: "Never" },
      /^sidecar container beside: image localhost\/nowhere:1 is not on/,
    ],
    ["its program is not there", "", { command: ["nothing-of-this-name"] }, /^sidecar container beside.*nothing-of-this-name/],
  ])("%s", async (_, script, more, message) => {
    const engine = { timeouts: { sidecar: 1000, imagePull: 1000, containerConfig: 1000 } };
    const { outcome, output } = await finishRun(bed, beside(script, { script: `console.log("ran")`, engine }, more));
    expect(outcome).toMatchObject({ kind: "never-started", cause: "init-failed", message: expect.stringMatching(message) });
    expect(output.toString()).toBe("");
  });

  test("its startup probe does not pass", async () => {
    const engine = { timeouts: { start: 10_000 } };
    const { outcome } = await finishRun(bed, beside(ENDLESS, { script: `console.log("ran")`, engine }, PROBE));
    expect(outcome).toMatchObject({
      kind: "never-started",
      cause: "init-failed",
      message: expect.stringContaining("sidecar container beside has not started within 10 s, and the run's container comes after it"),
    });
  });
});
