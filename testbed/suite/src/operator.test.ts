import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { RUN_KEYS } from "@paperclip-k8s/paperclip/keys";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { type RunHandle, type RunOptions, startRun } from "./run.ts";

// The operator's command line, as its own process, on Jobs that the engine has made and left.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const MAIN = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));
interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function cli(...args: string[]): Promise<Said> {
  const place = ["--kubeconfig", bed.kubeconfig, "-n", bed.namespace];
  const options = { timeout: 30_000, env: { PATH: process.env.PATH, HOME: "/nonexistent" } };
  return new Promise((resolve) =>
    execFile(process.execPath, [MAIN, ...args, ...place], options, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, out, err }),
    ),
  );
}

/** A run as the adapters label it, let go once it has said "on". */
async function leftRun(key: string, script: string, change: Partial<RunHandle["request"]> = {}): Promise<RunHandle> {
  const detach = new AbortController();
  const options: RunOptions = {
    script,
    detach: detach.signal,
    change: (request) => ({
      ...request,
      keys: RUN_KEYS,
      exclusive: key,
      name: { prefix: "suite-", parts: [key], identity: key },
      labels: { ...request.labels, "app.kubernetes.io/managed-by": "paperclip", "app.kubernetes.io/component": "agent-job" },
      annotations: { "paperclip.io/agent-name": key },
      ...change,
    }),
  };
  const run = startRun(bed, options);
  await run.saw("on\n");
  detach.abort(new Error("left by its server"));
  expect((await run.done).outcome).toMatchObject({ kind: "detached" });
  return run;
}

const gone = (run: RunHandle) => expect.poll(() => run.jobs(), { timeout: 10_000 }).toBe(0);

test("status and sweep: a live Job is shown and never swept; a finished one goes when it is old enough", async () => {
  const run = await leftRun("left", `console.log("on"); process.stdin.resume(); setTimeout(() => process.exit(3), 4000)`);
  const alive = await cli("status");
  expect(alive).toMatchObject({ code: 0, err: "" });
  expect(alive.out).toMatch(new RegExp(`^left +${run.request.runId.slice(0, 8)} +\\d+s +alive +its pod runs since`, "m"));
  expect(await cli("sweep", "--older-than", "1s", "--delete")).toMatchObject({
    code: 0,
    out: expect.stringContaining("nothing is left over"),
  });
  expect(await run.jobs()).toBe(1);

  const finished = async () => (await cli("sweep", "--older-than", "1s")).out;
  await expect.poll(finished, { timeout: 20_000, interval: 500 }).toContain("1 leftover; --delete removes them");
  expect((await cli("status")).out).toMatch(/over +the agent exited with code 3;/);
  expect((await cli("sweep", "--older-than", "1h")).out).toContain("nothing is left over");
  expect(await run.jobs()).toBe(1);
  expect(await cli("sweep", "--older-than", "1s", "--delete")).toMatchObject({ code: 0, out: expect.stringContaining(": deleted") });
  await gone(run);
}, 60_000);

test("a Job without the runner's mark is shown, and left alone", async () => {
  const keys = { ...RUN_KEYS, runner: "suite.test/other-mark" };
  const run = await leftRun("elder", `console.log("on"); setTimeout(() => {}, 500)`, { keys });
  await expect.poll(async () => (await cli("status")).out, { timeout: 20_000, interval: 500 }).toMatch(/^elder .* over +the agent exited/m);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect((await cli("sweep", "--older-than", "1s", "--delete")).out).toContain("nothing is left over");
  expect(await run.jobs()).toBe(1);
}, 60_000);

test("trouble is one line and its own exit code", async () => {
  const refused = await cli("status", "--context", "nowhere");
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toMatch(/^paperclip-k8s: .*there is no context "nowhere"\n$/);
  expect(await cli("sweep", "--older-than", "soon")).toMatchObject({ code: 2, out: "" });
});
