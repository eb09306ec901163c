import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listSecrets, type Permission, permissions, removeSecret } from "@paperclip-k8s/engine";
import { RUN_KEYS, SELECTOR } from "@paperclip-k8s/paperclip/keys";
import { findRecordSecret } from "@paperclip-k8s/paperclip/record-secret";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../../packages/cli/src/run-command.ts";
import { getJob } from "../../../packages/engine/src/kube/calls.ts";
import { type Connection, connect } from "../../../packages/engine/src/kube/connection.ts";
import { createJob } from "../../../packages/engine/src/kube/writes.ts";
import { volumeOwnershipManifest } from "../../../packages/engine/src/manifest/claim.ts";
import { type Bed, startBed } from "./bed.ts";
import { calm } from "./calm.ts";
import { gatedScript, type RunHandle, type RunOptions, startRun } from "./run.ts";

// The operator's command line, as its own process, on Jobs that the engine has made and left.

/** What a sweep uses besides. */
const SWEEP = [
  ["list", "secrets"],
  ["delete", "secrets"],
  ["delete", "pods"],
].map(([verb, resource]) => ({ verb, resource, group: "", scope: "namespace" }) as Permission);
/** As in the server's container. */
const SERVER_ENV = { PAPERCLIP_K8S_RECORD_SECRET: "of the server that has left" };
let recordSecret: Uint8Array | null;
let bed: Bed;
/** Of an operator, who may also list and delete Secrets. */
let kubeconfig: string;
let connection: Connection;
beforeAll(async () => {
  bed = await startBed();
  recordSecret = await findRecordSecret(SERVER_ENV, null);
  kubeconfig = await bed.account([...permissions, ...SWEEP]);
  connection = await connect({ kubeconfig });
});
// A sweep sees everything: each test, and each attempt of it, begins with nothing.
afterEach(async () => {
  await calm(bed);
  for (const { metadata } of await bed.list("jobs")) await bed.faults.deleteJob(metadata.name, "Foreground");
  await expect.poll(async () => (await bed.list("jobs")).length).toBe(0);
  for (const made of ["instances", "end"]) await rm(join(bed.data, made), { recursive: true, force: true });
});
afterAll(async () => {
  connection?.close();
  await bed.stop();
});

const MAIN = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));
interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const place = (config = kubeconfig) => ["--kubeconfig", config, "-n", bed.namespace];

function cli(...args: string[]): Promise<Said> {
  const options = { env: { PATH: process.env.PATH, HOME: "/nonexistent", ...SERVER_ENV } };
  return new Promise((resolve) =>
    execFile(process.execPath, [MAIN, ...args, ...place()], options, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, out, err }),
    ),
  );
}

/** The same command some hours later, in this process. */
async function later(hours: number, args: readonly string[], config?: string): Promise<Said> {
  const out: string[] = [];
  const err: string[] = [];
  const now = () => Date.now() + hours * 3_600_000;
  const stopped = new AbortController().signal;
  const terminal = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    env: SERVER_ENV,
    stopped,
    now,
  };
  const code = await runCommand([...args, ...place(config)], terminal);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

/** A run as the adapters label it, let go once that has come. */
async function leftRun(
  key: string,
  script: string,
  change: Partial<RunHandle["request"]> = {},
  come: (run: RunHandle) => Promise<unknown> = (run) => run.saw("on\n"),
): Promise<RunHandle> {
  const detach = new AbortController();
  const options: RunOptions = {
    script,
    ...(change.runId === undefined ? {} : { runId: change.runId }),
    detach: detach.signal,
    change: (request) => ({
      ...request,
      keys: RUN_KEYS,
      recordSecret,
      exclusive: key,
      name: { prefix: "suite-", parts: [key], identity: key },
      labels: { ...request.labels, "app.kubernetes.io/managed-by": "paperclip", "app.kubernetes.io/component": "agent-job" },
      annotations: { "paperclip.io/agent-name": key },
      ...change,
    }),
  };
  const run = startRun(bed, options);
  await come(run);
  detach.abort(new Error("left by its server"));
  expect((await run.done).outcome).toMatchObject({ kind: "detached" });
  return run;
}

const gone = (run: RunHandle) => expect.poll(() => run.jobs()).toBe(0);

test("status and sweep: a live Job is shown and never swept; a finished one goes when it is old enough", async () => {
  const sign = join(bed.data, "end");
  const run = await leftRun("left", `console.log("on"); setInterval(() => require("fs").existsSync("${sign}") && process.exit(3), 100)`);
  expect(await cli("status")).toMatchObject({ code: 0, err: "" });
  // The kubelet's word comes up to a second after the CLI's first one.
  const alive = new RegExp(`^left +${run.request.runId.slice(0, 8)} +\\d+s +alive +its pod runs since`, "m");
  await expect.poll(async () => (await cli("status")).out, { interval: 300 }).toMatch(alive);
  expect(await cli("sweep", "--older-than", "1s", "--delete")).toMatchObject({
    code: 0,
    out: expect.stringContaining("nothing to remove"),
  });
  expect(await run.jobs()).toBe(1);

  await writeFile(sign, "");
  const finished = async () => (await later(0, ["sweep", "--older-than", "1s"])).out;
  await expect
    .poll(finished, { interval: 500 })
    .toMatch(/^job +\d+s +finished: the agent exited with code 3; [\s\S]*\n1 leftover; --delete/m);
  expect((await cli("status")).out).toMatch(/ended +the agent exited with code 3;/);
  expect((await cli("sweep", "--older-than", "1h")).out).toContain("nothing to remove");
  expect(await run.jobs()).toBe(1);
  expect(await cli("sweep", "--older-than", "1s", "--delete")).toMatchObject({ code: 0, out: expect.stringContaining(": deleted") });
  await gone(run);
});

test("a Job without the runner's mark is shown, and left alone", async () => {
  const keys = { ...RUN_KEYS, runner: "suite.test/other-mark" };
  const { script, release } = gatedScript(bed);
  const run = await leftRun("elder", script, { keys });
  await release();
  await expect.poll(async () => (await later(0, ["status"])).out, { interval: 500 }).toMatch(/^elder .* ended +the agent exited/m);
  const swept = await later(1, ["sweep", "--older-than", "1s", "--delete"]);
  expect(swept.out).toMatch(
    /^left alone:\n[\s\S]*not started by this version: look at it by hand;[\s\S]*nothing to remove in .*, 1 left alone$/m,
  );
  expect(await run.jobs()).toBe(1);
});

test("a Job that never got its Secret goes when no server can be about to give it one; one that hands a volume over has none by design", async () => {
  const nowhere = await bed.faults.unschedulable();
  try {
    const accepted = (run: RunHandle) => expect.poll(() => run.secrets()).toBe(1);
    const run = await leftRun("secretless", "", {}, accepted);
    const job = await getJob(connection, bed.namespace, await run.job());
    const name = `${bed.namespace}/${job?.name}`;
    const setOwnership = volumeOwnershipManifest(run.request, { claimName: "data", mountPath: bed.data, create: null, setOwnership: true });
    const other = await createJob(connection, bed.namespace, setOwnership);
    // With its Secret it only waits for a node.
    expect((await later(30, ["sweep"])).out).not.toContain(name);
    const secrets = await listSecrets({ kubeconfig }, bed.namespace, SELECTOR);
    const own = secrets.filter(({ ownerUids }) => ownerUids.includes(job?.uid ?? ""));
    expect(own).toHaveLength(1);
    for (const secret of own) await removeSecret({ kubeconfig }, bed.namespace, secret);

    // The Job has to become a second old first.
    const young = async () => (await later(0, ["sweep", "--older-than", "1s", "--delete"])).out;
    await expect.poll(young).toContain("its server may be about to make it");
    const blind = await later(30, ["sweep"], bed.kubeconfig);
    expect(blind.out).toMatch(/whether it has its Secret cannot be seen[\s\S]*Secrets in .* are not looked at/);
    expect((await later(30, ["sweep"])).out).toContain("never got its Secret, so it cannot start");
    expect(await later(30, ["sweep", "--delete"])).toMatchObject({ code: 0, out: expect.stringContaining(`job ${name}: deleted`) });
    await expect.poll(() => getJob(connection, bed.namespace, job?.name ?? "")).toBeNull();
    const kept = "created" in other ? other.created : other.existing;
    expect((await getJob(connection, bed.namespace, kept.name))?.deletedAt).toBeNull();
    await bed.faults.deleteJob(kept.name, "Background");
  } finally {
    await nowhere.undo();
  }
});

test("a Secret whose Job was deleted without it goes once no pod can need it", async () => {
  const { script, release } = gatedScript(bed);
  const run = await leftRun("orphaned", script);
  const path = `/apis/batch/v1/namespaces/${bed.namespace}/jobs/${await run.job()}`;
  await connection.request({ method: "DELETE", path, body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Orphan" } });
  await gone(run);
  expect((await later(30, ["sweep", "--delete"])).out).toMatch(/^secret +\d+h +its Job is gone, but pod \S+ may still need it;/m);
  expect(await run.secrets()).toBe(1);
  await release();
  const finished = async () => (await later(30, ["sweep"])).out;
  await expect.poll(finished, { interval: 500 }).toMatch(/^secret +\d+h +its Job is gone;/m);
  expect((await later(1, ["sweep"])).out).not.toMatch(/^secret/m);
  expect(await later(30, ["sweep", "--delete"])).toMatchObject({ code: 0, out: expect.stringMatching(/^secret \S+: deleted$/m) });
  expect(await run.secrets()).toBe(0);
  await expect.poll(async () => (await bed.list("pods")).filter(({ metadata }) => metadata.name.includes("orphaned"))).toEqual([]);
});

test("files of runs whose Job is gone: with an end on record, or where all namespaces are seen", async () => {
  const folder = join(bed.data, "instances/default/data/run-logs/company/agent");
  // The lost one as an earlier version wrote it.
  const path = (run: string) => join(folder, run === lost ? `${run}.pod.ndjson` : `${run}.pod/output.ndjson`);
  const output = (run: string) => ({ output: { root: bed.data, path: path(run) } });
  const [done, live, lost] = [
    "0cd38448-2fc7-4563-9601-708220c45361",
    "5bcd0f78-2cad-4e13-951a-682ae8992ee9",
    "77e1f0aa-2cad-4e13-951a-682ae8992ee9",
  ];
  const { script, release } = gatedScript(bed);
  const ended = await leftRun("ended", script, { runId: done, ...output(done) });
  await release();
  const alive = await leftRun("alive", `console.log("on"); setInterval(() => {}, 1000)`, { runId: live, ...output(live) });
  for (const text of [path(lost), `${path(lost)}.meta`]) await writeFile(text, "");
  const bundle = join(bed.data, "instances/default/data/prompt-bundles/company/0123");
  await mkdir(bundle, { recursive: true });
  await utimes(bundle, 1, 1);
  const sweep = ["sweep", "--data", bed.data];

  await expect.poll(async () => (await later(30, sweep)).out, { interval: 500 }).toMatch(/^job +\d+h +finished/m);
  // Its Job is still there; a week is not over.
  expect((await later(300, sweep)).out).not.toContain(`${done}.pod`);
  await later(30, [...sweep, "--delete"]);
  await gone(ended);
  expect(existsSync(bundle)).toBe(false);
  expect((await later(30, sweep)).out).not.toContain("files");

  const swept = await later(300, [...sweep, "--delete"]);
  expect(swept).toMatchObject({ code: 0, err: "" });
  expect(swept.out).toMatch(
    /^files +\d+d +its Job is gone; the runner recorded the end at [\s\S]*left alone:\n[\s\S]*no end is on record/m,
  );
  const all = (await readdir(folder)).map((name) => name.slice(0, 36));
  expect([...new Set(all)].sort()).toEqual([live, lost].sort());
  const everywhere =
    bed.pocket?.kubeconfig ??
    (await bed.account([...permissions, ...SWEEP, { verb: "list", resource: "jobs", group: "batch", scope: "cluster" }]));
  expect(await later(300, [...sweep, "--delete"], everywhere)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/no Job in any namespace works for its run[\s\S]*77e1f0aa\S+: deleted/),
  });
  expect([...new Set((await readdir(folder)).map((name) => name.slice(0, 36)))]).toEqual([live]);
  await bed.faults.deleteJob(await alive.job(), "Foreground");
  await gone(alive);
});

test("trouble is one line and its own exit code", async () => {
  const refused = await cli("status", "--context", "nowhere");
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toMatch(/^paperclip-k8s: .*there is no context "nowhere"\n$/);
  expect(await cli("sweep", "--older-than", "soon")).toMatchObject({ code: 2, out: "" });
});
