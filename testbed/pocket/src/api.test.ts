import { readFileSync } from "node:fs";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { Job } from "./job.ts";
import type { Secret } from "./object.ts";
import type { StatusBody } from "./status.ts";
import { call, images, jobs, jsonPatch, mergePatch, secrets, shellJob } from "./test-client.ts";

let cluster: Pocket;

beforeAll(async () => {
  cluster = await startPocket({ images, denied: [{ verb: "list", resource: "events" }] });
  cluster.createNamespace("a");
  cluster.createNamespace("b");
});
afterAll(() => cluster.stop());

const secret = (name: string, labels?: Record<string, string>) => ({
  metadata: { name, ...(labels ? { labels } : {}) },
  stringData: { k: "v" },
});
const create = (name: string, labels?: Record<string, string>, namespace = "a") =>
  call<Secret>(cluster, "POST", secrets(namespace), secret(name, labels));

describe("errors are Status objects", () => {
  test("401 without the token", async () => {
    const response = await fetch(`${cluster.url}${secrets("a")}`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ kind: "Status", status: "Failure", reason: "Unauthorized", code: 401 });
  });

  test("403 for what the account may not do, and the access review says the same", async () => {
    const reply = await call<StatusBody>(cluster, "GET", "/api/v1/namespaces/a/events");
    expect(reply.body.message).toBe(
      'events is forbidden: User "pocket" cannot list resource "events" in API group "" in the namespace "a"',
    );
    const ask = async (verb: string) => {
      const spec = { resourceAttributes: { namespace: "a", verb, resource: "events" } };
      const review = await call(cluster, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec });
      expect(review.status).toBe(201);
      return (review.body.status as { allowed: boolean }).allowed;
    };
    expect(await ask("list")).toBe(false);
    expect(await ask("get")).toBe(true);
  });

  test("an account of its own may do what its rules say, there, and nothing else", async () => {
    const path = cluster.createAccount("a", [{ group: "batch", resource: "jobs", verb: "list" }]);
    const { users } = JSON.parse(readFileSync(path, "utf8"));
    const authorization = `Bearer ${users[0].user.token}`;
    const ask = async (url: string) => (await fetch(`${cluster.url}${url}`, { headers: { authorization } })).json();
    expect(await ask(jobs("a"))).toMatchObject({ kind: "JobList" });
    expect(cluster.requests.at(-1)).toMatchObject({ account: "system:serviceaccount:a:account-1", status: 200 });
    const user = "system:serviceaccount:a:account-1";
    expect(await ask(`${jobs("a")}?watch=true`)).toMatchObject({
      reason: "Forbidden",
      message: `jobs.batch is forbidden: User "${user}" cannot watch resource "jobs" in API group "batch" in the namespace "a"`,
    });
    expect(await ask(jobs("b"))).toMatchObject({ code: 403 });
    expect(await ask(secrets("a"))).toMatchObject({ code: 403 });
    const review = async (resourceAttributes: object) => {
      const init = { method: "POST", body: JSON.stringify({ spec: { resourceAttributes } }), headers: { authorization } };
      const reply = await fetch(`${cluster.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, init);
      return ((await reply.json()) as { status: { allowed: boolean } }).status.allowed;
    };
    expect(await review({ namespace: "a", group: "batch", resource: "jobs", verb: "list" })).toBe(true);
    expect(await review({ namespace: "b", group: "batch", resource: "jobs", verb: "list" })).toBe(false);
    expect(await review({ namespace: "a", resource: "jobs", verb: "list" })).toBe(false);
  });

  test("404 for an object, a namespace and a path", async () => {
    const reply = await call<StatusBody>(cluster, "GET", `${jobs("a")}/none`);
    expect(reply).toMatchObject({
      status: 404,
      body: { reason: "NotFound", message: 'jobs.batch "none" not found', details: { name: "none", group: "batch", kind: "jobs" } },
    });
    const lost = await call<StatusBody>(cluster, "POST", secrets("nowhere"), secret("s"));
    expect(lost).toMatchObject({ status: 404, body: { message: 'namespaces "nowhere" not found' } });
    expect((await call<StatusBody>(cluster, "GET", "/api/v1/namespaces/a/widgets")).status).toBe(404);
  });

  test("405 for a verb a path does not have", async () => {
    expect(await call<StatusBody>(cluster, "PUT", secrets("a"), {})).toMatchObject({ status: 405, body: { reason: "MethodNotAllowed" } });
  });

  test("409 for a name taken, 400 for a body that is no JSON or of another kind", async () => {
    await create("taken");
    expect(await create("taken")).toMatchObject({
      status: 409,
      body: { reason: "AlreadyExists", message: 'secrets "taken" already exists' },
    });
    const wrong = await call<StatusBody>(cluster, "POST", secrets("a"), { kind: "Pod", apiVersion: "v1", metadata: { name: "x" } });
    expect(wrong).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
    const headers = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" };
    expect((await fetch(`${cluster.url}${secrets("a")}`, { method: "POST", headers, body: "{" })).status).toBe(400);
  });

  test("413 above 3 MiB, 422 for a Secret above 1 MiB, and exactly 1 MiB is fine", async () => {
    const data = (bytes: number) => ({ metadata: { name: `s${bytes}` }, data: { k: Buffer.alloc(bytes).toString("base64") } });
    expect((await call<StatusBody>(cluster, "POST", secrets("a"), data(2_400_000))).status).toBe(413);
    const large = await call<StatusBody>(cluster, "POST", secrets("a"), data(1_048_577));
    expect(large).toMatchObject({
      status: 422,
      body: { message: 'Secret "s1048577" is invalid: data: Too long: may not be more than 1048576 bytes' },
    });
    expect((await call(cluster, "POST", secrets("a"), data(1_048_576))).status).toBe(201);
  });
});

describe("validation", () => {
  const post = async (job: object) =>
    (await call<StatusBody>(cluster, "POST", `${jobs("a")}?dryRun=All`, job)) as { status: number; body: StatusBody };
  const fields = async (job: object) => (await post(job)).body.details?.causes?.map(({ field }) => field);

  test.each([
    ["a name with capitals", { metadata: { name: "Bad" } }, ["metadata.name"]],
    ["a label value of 64 characters", { metadata: { name: "ok", labels: { a: "x".repeat(64) } } }, ["metadata.labels"]],
    ["a label value ending in a dash", { metadata: { name: "ok", labels: { a: "x-" } } }, ["metadata.labels"]],
  ])("%s", async (_what, extra, causes) => {
    expect(await fields({ ...shellJob("ok", "true"), ...extra })).toEqual(causes);
  });

  test.each([
    ["restartPolicy Always", { pod: { restartPolicy: "Always" } }, "restartPolicy"],
    ["no image", { container: { image: "" } }, "containers[0].image"],
    ["no container name", { container: { name: "" } }, "containers[0].name"],
    ["a mount of no volume", { container: { volumeMounts: [{ name: "v", mountPath: "/v" }] } }, "containers[0].volumeMounts[0].name"],
    ["a quantity that is none", { container: { resources: { requests: { cpu: "lots" } } } }, "containers[0].resources.requests[cpu]"],
    [
      "a request above its limit",
      { container: { resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } } },
      "containers[0].resources.requests[cpu]",
    ],
    ["an env name with =", { container: { env: [{ name: "A=B", value: "" }] } }, "containers[0].env[1].name"],
  ])("%s", async (_what, options, field) => {
    expect(await fields(shellJob("ok", "true", options))).toEqual([`spec.template.spec.${field}`]);
  });

  test("a dry run stores nothing", async () => {
    const reply = await post(shellJob("dry", "true"));
    expect(reply.status).toBe(201);
    expect(cluster.get("jobs", "a", "dry")).toBeUndefined();
  });
});

describe("write", () => {
  test("replace and patch with a stale resourceVersion conflict", async () => {
    const made = (await create("stale")).body;
    const path = `${secrets("a")}/stale`;
    const second = await call<Secret>(cluster, "PATCH", path, { stringData: { k: "w" } }, mergePatch);
    expect(second.body.data).toEqual({ k: "dw==" });
    expect(Number(second.body.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
    const why =
      'Operation cannot be fulfilled on secrets "stale": the object has been modified; please apply your changes to the latest version and try again';
    expect(await call<StatusBody>(cluster, "PUT", path, made)).toMatchObject({ status: 409, body: { reason: "Conflict", message: why } });
    const stalePatch = { metadata: { resourceVersion: made.metadata.resourceVersion } };
    expect((await call<StatusBody>(cluster, "PATCH", path, stalePatch, mergePatch)).status).toBe(409);
    expect((await call(cluster, "PUT", path, second.body)).status).toBe(200);
  });

  test("a change of nothing makes no new version", async () => {
    const made = (await create("same", { a: "b" })).body;
    const again = await call(cluster, "PATCH", `${secrets("a")}/same`, { metadata: { labels: { a: "b" } } }, mergePatch);
    expect(again.body.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("a JSON patch whose test fails is 422 and changes nothing; one that holds applies", async () => {
    await create("tested", { owner: "one" });
    const swap = (from: string, to: string) => [
      { op: "test", path: "/metadata/labels/owner", value: from },
      { op: "replace", path: "/metadata/labels/owner", value: to },
    ];
    const path = `${secrets("a")}/tested`;
    const refused = await call<StatusBody>(cluster, "PATCH", path, swap("two", "three"), jsonPatch);
    expect(refused).toMatchObject({
      status: 422,
      body: { reason: "Invalid", message: "the server rejected our request due to an error in our request" },
    });
    expect(cluster.get("secrets", "a", "tested")?.metadata.labels).toEqual({ owner: "one" });
    expect((await call(cluster, "PATCH", path, swap("one", "two"), jsonPatch)).body.metadata.labels).toEqual({ owner: "two" });
    expect((await call<StatusBody>(cluster, "PATCH", path, {}, "application/json")).status).toBe(415);
  });

  test("a Job's template is immutable, its status is written through /status alone", async () => {
    const made = (await call<Job>(cluster, "POST", jobs("a"), shellJob("fixed", "true", { spec: { suspend: true } }))).body;
    const path = `${jobs("a")}/fixed`;
    const template = { spec: { template: { spec: { nodeSelector: { a: "b" } } } } };
    expect((await call<StatusBody>(cluster, "PATCH", path, template, mergePatch)).body.details?.causes?.[0]?.field).toBe("spec.template");
    const ignored = await call<Job>(cluster, "PATCH", path, { status: { failed: 7 } }, mergePatch);
    expect(ignored.body.status.failed).toBeUndefined();
    const written = await call<Job>(cluster, "PATCH", `${path}/status`, { status: { failed: 7 }, spec: { backoffLimit: 3 } }, mergePatch);
    expect(written.body.status.failed).toBe(7);
    expect(written.body.spec.backoffLimit).toBe(made.spec.backoffLimit);
  });

  test("generateName makes a name", async () => {
    const reply = await call(cluster, "POST", secrets("a"), { metadata: { generateName: "gen-" } });
    expect(reply.body.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  });
});

describe("delete preconditions", () => {
  test.each(["uid", "resourceVersion"])("another %s conflicts and deletes nothing", async (key) => {
    const { metadata } = (await create(`pre-${key.toLowerCase()}`)).body;
    const path = `${secrets("a")}/${metadata.name}`;
    const refused = await call<StatusBody>(cluster, "DELETE", path, { preconditions: { [key]: "1" } });
    expect(refused).toMatchObject({ status: 409, body: { reason: "Conflict" } });
    expect(cluster.get("secrets", "a", metadata.name)).toBeDefined();
    expect((await call(cluster, "DELETE", path, { preconditions: { [key]: metadata[key as "uid"] } })).status).toBe(200);
    expect(cluster.get("secrets", "a", metadata.name)).toBeUndefined();
  });

  // The trap of Node's own client: a DELETE body without Content-Length never arrives, so the precondition is lost.
  test("a body without Content-Length is not seen", async () => {
    await create("trap");
    const headers = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" };
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${cluster.url}${secrets("a")}/trap`, { method: "DELETE", headers, agent: false }, (response) =>
        resolve(response.statusCode),
      );
      asked.on("error", reject);
      asked.end(JSON.stringify({ preconditions: { uid: "1" } }));
    });
    expect(status).toBe(200);
    expect(cluster.get("secrets", "a", "trap")).toBeUndefined();
  });
});

test("every request and connection is counted", async () => {
  const before = cluster.requests.length;
  const connections = cluster.connections;
  await call(cluster, "GET", `${secrets("a")}?labelSelector=x`);
  const seen = cluster.requests.slice(before);
  expect(seen).toMatchObject([
    {
      verb: "list",
      resource: "secrets",
      namespace: "a",
      name: null,
      query: { labelSelector: "x" },
      status: 200,
      bodyBytes: 0,
      watch: false,
    },
  ]);
  expect(connections).toBeGreaterThan(0);
});
