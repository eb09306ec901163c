import { findOwnPod, type Permission, permissions } from "@paperclip-k8s/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bed, startBed } from "./bed.ts";
import { type RunOptions, startRun } from "./run.ts";

// The table of permissions is minimal: each required row that is taken away breaks a run, each optional one costs what it says, by name.

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.stop());

const HELLO = `console.log("hello")`;
const nameOf = ({ verb, resource }: Pick<Permission, "verb" | "resource">) => `${verb} ${resource}`;
const rows = (required: boolean) => permissions.filter((row) => row.required === required).map((row) => [nameOf(row), row] as const);

/** A run of an account that lacks one row. */
async function startWithout(row: string, options: RunOptions = {}) {
  const kubeconfig = await bed.account(permissions.filter((each) => nameOf(each) !== row));
  return startRun({ ...bed, kubeconfig }, { script: HELLO, ...options });
}

const warned = (run: { readonly status: readonly { readonly level: string; readonly text: string }[] }, text: string) =>
  expect.poll(() => run.status.filter((line) => line.level === "warning" && line.text.includes(text)).length).toBe(1);

const needs = ({ verb, resource, group, why }: Permission) =>
  `needs "${verb}" on "${group === "" ? resource : `${resource}.${group}`}" (${why})`;

describe("a required row", () => {
  test.concurrent.each(rows(true))("without %s nothing is created, and the message names it", async (name, row) => {
    const run = await startWithout(name);
    const { outcome } = await run.done;
    expect(outcome).toMatchObject({ kind: "never-started", permanent: true });
    expect("message" in outcome ? outcome.message : "").toContain(`not allowed to ${name} in namespace ${bed.namespace}`);
    expect("message" in outcome ? outcome.message : "").toContain(needs(row));
    expect(await run.jobs()).toBe(0);
    const mine = (await bed.list("secrets")).filter(({ metadata }) => metadata.labels?.["suite.test/run-id"] === run.request.runId);
    expect(mine).toEqual([]);
  });
});

describe("where the cluster answers no access reviews, what is missing shows when it is needed", () => {
  let reviews: { undo(): void };
  beforeAll(() => {
    reviews = bed.faults.fail({ resource: "selfsubjectaccessreviews" }, { status: 403, times: 999 });
  });
  afterAll(() => reviews.undo());

  test("create secrets: the Job is taken back", async () => {
    const run = await startWithout("create secrets");
    const { outcome } = await run.done;
    expect(outcome).toMatchObject({ kind: "never-started", cause: "secret-create-failed", permanent: true });
    expect("message" in outcome ? outcome.message : "").toContain('needs "create" on "secrets"');
    await expect.poll(() => run.jobs()).toBe(0);
  });

  test("delete jobs: the run is fine, its clean-up and its cancel say what is missing", async () => {
    const plain = await startWithout("delete jobs");
    expect((await plain.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
    await warned(plain, "cleaning up failed: not allowed to delete jobs");
    const long = await startWithout("delete jobs", {
      script: `console.log("on"); setInterval(() => {}, 1000)`,
      engine: { timeouts: { cancel: 2000 } },
    });
    await long.saw("on\n");
    long.cancel();
    await warned(long, "cannot be deleted: not allowed to delete jobs");
    expect((await long.done).outcome).toMatchObject({ kind: "cancelled", stopped: false });
    await bed.faults.deleteJob(await plain.job(), "Background");
    await bed.faults.deleteJob(await long.job(), "Background");
  });

  test("get jobs: a run whose key is held cannot tell by whom", async () => {
    const keyed = (options: RunOptions): RunOptions => ({
      ...options,
      change: (request) => ({ ...request, exclusive: "k", name: { prefix: "suite-", parts: ["k"], identity: "k" } }),
    });
    const owner = startRun(bed, keyed({ script: `console.log("on"); setInterval(() => {}, 1000)` }));
    await owner.saw("on\n");
    const { outcome } = await (await startWithout("get jobs", keyed({}))).done;
    expect(outcome).toMatchObject({
      kind: "never-started",
      permanent: true,
      message: expect.stringContaining('needs "get" on "jobs.batch"'),
    });
    owner.cancel();
    expect((await owner.done).outcome).toMatchObject({ kind: "cancelled", stopped: true });
  });
});

describe("an optional row", () => {
  test("they are these; each has its test here, or among the tests of claims, of the environment and of adoption", () => {
    const patches = ["patch jobs", "get pods", "patch pods", "patch secrets"];
    const names = [...patches, "list events", "get persistentvolumeclaims", "create persistentvolumeclaims", "get storageclasses"];
    expect(rows(false).map(([name]) => name)).toEqual(names);
  });

  test("list events: a pod that starts late is not explained, and the log says why", async () => {
    const trouble = await bed.faults.unschedulable();
    const run = await startWithout("list events", { engine: { timeouts: { events: 200 } } });
    await warned(run, `not allowed to list events in namespace ${bed.namespace}`);
    expect(run.status.find(({ text }) => text.includes("list events"))?.text).toContain("without the cluster's own explanation");
    await trouble.undo();
    expect((await run.done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  });

  test("get pods: the server's own pod is not known, and that is said; runs run", async () => {
    const kubeconfig = await bed.account(permissions.filter((row) => nameOf(row) !== "get pods"));
    const env = { POD_NAME: "server-0", POD_NAMESPACE: bed.namespace };
    expect(await findOwnPod({ kubeconfig }, { env, containers: [] })).toMatchObject({
      pod: null,
      why: expect.stringContaining('"get" on "pods"'),
    });
    expect((await startRun({ ...bed, kubeconfig }, { script: HELLO }).done).outcome).toMatchObject({ kind: "exited", exitCode: 0 });
  });
});
