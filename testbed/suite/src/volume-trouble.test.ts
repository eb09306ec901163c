import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, openSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Bed, onKube, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, startRun } from "./run.ts";

// A shared volume that stalls: the agent, its exit code, other runs and the server go on.

let bed: Bed;
let attempts = 0;
beforeAll(async () => {
  bed = await startBed();
});
afterEach(() => calm(bed));
afterAll(() => bed.stop());

/** Leads a file's writers into a pipe that nobody reads: it fills up and then blocks them. */
function leadIntoPipe(path: string): () => void {
  const pipe = `${path}.pipe`;
  execFileSync("mkfifo", ["-m", "666", pipe]);
  const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  unlinkSync(path);
  symlinkSync(pipe, path);
  return () => closeSync(held);
}

test("a stalled output path: the container exits with its code, other runs' output flows", async () => {
  const claim = `sick-${++attempts}`;
  const sick = await bed.addVolume(claim);
  // The pod waits for its Secret: time to spoil the file the server has made.
  const late = bed.faults.delay({ verb: "create", resource: "secrets" }, 1000);
  const { script, release: endStalled } = gatedScript({ data: sick }, { exitCode: 9 });
  const stalled = startRun(bed, {
    script: `process.stdout.write("x".repeat(300_000) + "\\n"); ${script}`,
    change: (request) => ({
      ...request,
      output: { root: sick, path: `${sick}/logs/${request.runId}.ndjson` },
      volumes: { ...request.volumes, shared: { claimName: claim, mountPath: sick, subPath: null } },
      container: { ...request.container, workingDir: sick },
      limits: { ...request.limits, volumeWaitSec: 5 },
    }),
  });
  await expect.poll(() => stalled.status.some((line) => line.text.includes("accepted"))).toBe(true);
  const release = leadIntoPipe(stalled.request.output.path);
  // The other one is stalled until it is asked to end.
  const healthy = await startRun(bed, { script: `console.log("fine")` }).done;
  expect(healthy.output.toString()).toBe("fine\n");
  await endStalled();
  const { outcome } = await stalled.done;
  release();
  expect(late.hits).toBe(1);
  expect(outcome).toMatchObject({
    kind: "exited",
    exitCode: 9,
    evidence: { proof: "termination-message", output: { complete: false, expected: 300_008 } },
  });
  expect(outcome.evidence.output.problem).toBeTruthy();
  expect(await stalled.jobs()).toBe(1);
});

test("a server whose reader is stuck can exit", async () => {
  const script = fileURLToPath(new URL("stuck-server.ts", import.meta.url));
  const server = spawn(process.execPath, [script, bed.kubeconfig, bed.data, bed.namespace, bed.images.agent], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve) => server.stdout.on("data", (data) => String(data).includes("stuck") && resolve()));
  server.kill("SIGTERM");
  // A thread that is stuck would keep it for ever.
  const code = await new Promise((resolve) => server.on("exit", resolve));
  expect(code).toBe(0);
  // The Job outlives the server: nobody asked for its end.
  expect(await bed.list("jobs")).not.toHaveLength(0);
});

test("a volume that cannot be written is refused before anything is created", async () => {
  const creates = () => bed.requests.filter((request) => request.verb === "create").length;
  const before = creates();
  const { outcome } = await startRun(bed, {
    script: "",
    change: (request) => ({ ...request, output: { root: "/proc", path: `/proc/none/${request.runId}.ndjson` } }),
  }).done;
  expect(outcome).toMatchObject({ kind: "never-started", cause: "volume-unusable" });
  expect(creates()).toBe(before);
});

const mayMount = !onKube && process.platform === "linux" && process.getuid?.() === 0;

test.skipIf(!mayMount)("a volume that runs full: said at once, and nothing is lost when there is room again", async () => {
  const claim = `full-${++attempts}`;
  const full = await bed.addVolume(claim);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=777", "tmpfs", full]);
  try {
    writeFileSync(`${full}/ballast`, Buffer.alloc(700_000));
    const run = startRun(bed, {
      script: `for (let i = 0; i < 60; i++) require("node:fs").writeSync(1, "x".repeat(9_999) + "\\n")`,
      change: (request) => ({
        ...request,
        output: { root: full, path: `${full}/logs/${request.runId}.ndjson` },
        volumes: { ...request.volumes, shared: { claimName: claim, mountPath: full, subPath: null } },
        container: { ...request.container, workingDir: full },
      }),
    });
    const said = (text: string) => expect.poll(() => run.status.some((line) => line.text.includes(text))).toBe(true);
    await said("the shared volume is full");
    unlinkSync(`${full}/ballast`);
    const { outcome, output, status } = await run.done;
    expect(outcome).toMatchObject({ kind: "exited", exitCode: 0, evidence: { output: { complete: true } } });
    expect(output.length).toBe(600_000);
    expect(status.map(({ text }) => text).join("\n")).toMatch(/the volume has room again after \d+ s; nothing of the output is lost/);
  } finally {
    execFileSync("umount", ["--lazy", full]);
  }
});
