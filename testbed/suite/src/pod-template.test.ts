import type { PodTemplate, RunRequest } from "@paperclip-k8s/engine";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { finishRun, gatedScript, startRun } from "./run.ts";

// What a pod has besides the agent. Startup probes, and what sidecars do not see, are in kube/pod-template.kube-test.ts.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** A folder that all containers of the pod have; its path is in a variable, because the embedded cluster changes no path inside a script. */
const volumeMounts = [{ name: "notes", mountPath: "/notes" }];
const env = [{ name: "NOTES", value: "/notes" }];
const fs = `require("node:fs")`;
const note = (name: string) => `process.env.NOTES + "/${name}"`;

function having(parts: { readonly init?: string; readonly beside?: string; readonly image?: string }) {
  const container = (name: string, script: string) => ({
    name,
    image: parts.image ?? bed.images.agent,
    command: ["node", "-e", script],
    volumeMounts,
    env,
  });
  const template: PodTemplate = {
    initContainers: parts.init === undefined ? [] : [container("first", parts.init)],
    sidecars: parts.beside === undefined ? [] : [container("beside", parts.beside)],
    volumes: [{ name: "notes", emptyDir: {} }],
    volumeMounts,
    env,
  };
  return (request: RunRequest): RunRequest => ({ ...request, template });
}

describe("before the agent", () => {
  test("an init container's work is there when the agent starts", async () => {
    const change = having({ init: `${fs}.writeFileSync(${note("first")}, "from the init container")` });
    const { outcome, output } = await finishRun(bed, { script: `console.log(${fs}.readFileSync(${note("first")}, "utf8"))`, change });
    expect(output.toString()).toBe("from the init container\n");
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("one that fails is the run's failure to start, with its name and its words", async () => {
    const { outcome, status } = await finishRun(bed, { change: having({ init: `console.error("no seed found"); process.exit(5)` }) });
    const why = "init container first exited with code 5: no seed found";
    expect(outcome).toMatchObject({ kind: "never-started", cause: "init-failed", message: why });
    expect(status.map(({ text }) => text)).toContain(why);
  });
});

describe("beside the agent", () => {
  const ENDLESS = "setInterval(() => {}, 1000)";

  test("a sidecar works while the agent does, and the Job ends with the agent", async () => {
    const answer = `setInterval(() => { if (${fs}.existsSync(${note("asked")})) ${fs}.writeFileSync(${note("answered")}, ""); }, 20)`;
    const script = `${fs}.writeFileSync(${note("asked")}, "");
      const t = setInterval(() => { if (!${fs}.existsSync(${note("answered")})) return; clearInterval(t); console.log("answered"); }, 20)`;
    const run = startRun(bed, { script, change: having({ beside: answer }) });
    const { outcome, output } = await run.done;
    expect(output.toString()).toBe("answered\n");
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    await expect.poll(run.jobs).toBe(0);
  });

  test("a run that fails fails with its own exit code, and a cancelled one is cancelled", async () => {
    const change = having({ beside: ENDLESS });
    expect((await finishRun(bed, { script: "process.exit(3)", change })).outcome).toMatchObject({ kind: "exited", exitCode: 3 });
    const run = startRun(bed, { script: gatedScript(bed).script, change });
    await run.saw("on\n");
    run.cancel();
    expect((await run.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
  });

  test("a sidecar's end while the agent works is said in the log, and is no failure of the run", async () => {
    const { script, release } = gatedScript(bed);
    const dies = `setInterval(() => { if (${fs}.existsSync(${note("die")})) { console.error("broken"); process.exit(7); } }, 20)`;
    const run = startRun(bed, { script: `${fs}.writeFileSync(${note("die")}, ""); ${script}`, change: having({ beside: dies }) });
    const said = () => run.status.map(({ text }) => text).filter((text) => text.startsWith("sidecar container"));
    await expect.poll(said).toContain("sidecar container beside exited with code 7: broken; it is restarted, and the run goes on");
    await release();
    const { outcome } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { warnings: [] } });
  });

  test("a sidecar whose image is not there is the run's failure to start, by its own name", async () => {
    const engine = { timeouts: { imagePull: 1000 } };
    const change = having({ beside: ENDLESS, image: bed.images.missing });
    const { outcome } = await finishRun(bed, { script: `console.log("ran")`, change, engine });
    const message = expect.stringContaining(`sidecar container beside: image ${bed.images.missing} cannot be pulled`);
    expect(outcome).toMatchObject({ kind: "never-started", cause: "init-failed", message });
  });
});
