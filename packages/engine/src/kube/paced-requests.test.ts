import { afterEach, beforeEach, expect, test } from "vitest";
import { deleteByUid } from "./testing/delete-job.ts";
import { TestApi } from "./testing/test-api.ts";
import { createJob, createSecret } from "./writes.ts";

// What a server that takes up hundreds of runs at once asks of the API server, over the wire.

const MANY = 400;
const path = "/apis/batch/v1/namespaces/n/jobs";
let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start();
});
afterEach(() => api.stop());

test("hundreds of requests at once wait for their turn; a delete does not wait for them, an errand waits for all", async () => {
  const connection = await api.connect();
  const { uid } = api.put(path, "cancelled").metadata;
  const errand = connection.request({ method: "GET", path: `${path}/errand`, priority: "last" }).catch(() => {});
  const first = connection.request({ method: "GET", path: `${path}/first` }).catch(() => {});
  const ask = (n: number) => connection.request({ method: "GET", path: `${path}/rest-${n}` }).catch(() => {});
  const rest = Array.from({ length: MANY / 2 }, (_, n) => ask(n));
  const late = connection.request({ method: "GET", path: `${path}/late-errand`, priority: "last" }).catch(() => {});
  rest.push(...Array.from({ length: MANY / 2 }, (_, n) => ask(MANY / 2 + n)));
  expect(await deleteByUid(connection, "n", "cancelled", { uid, propagation: "Foreground" })).toBe("deleted");
  const deleted = api.seen.findIndex(({ method }) => method === "DELETE");
  await Promise.all([errand, first, late, ...rest]);
  expect(api.seen).toHaveLength(MANY + 4);
  // A hundred are let through at once; the wire may change the order of neighbours.
  expect(deleted).toBeLessThan(MANY * 0.75);
  expect(api.seen.findIndex((seen) => seen.path === `${path}/late-errand`)).toBeGreaterThan(MANY * 0.75);
});

test("a Secret does not wait for the Jobs of other runs", async () => {
  const connection = await api.connect();
  const create = (n: number) => createJob(connection, "n", { metadata: { name: `job-${n}` } });
  const jobs = Array.from({ length: MANY }, (_, n) => create(n));
  expect(await createSecret(connection, "n", { metadata: { name: "secret" } })).toBe(true);
  await Promise.all(jobs);
  expect(api.seen.findIndex((seen) => seen.path.endsWith("/secrets"))).toBeLessThan(MANY * 0.75);
});

test("who is cancelled, or whose connection closes, does not wait for a turn", async () => {
  const connection = await api.connect();
  const cancel = new AbortController();
  const reason = new Error("cancelled");
  const waiting = Array.from({ length: MANY }, () => connection.request({ method: "GET", path, signal: cancel.signal }));
  const kept = Array.from({ length: 50 }, () => connection.request({ method: "GET", path }));
  const results = Promise.allSettled(waiting);
  const others = Promise.allSettled(kept);
  cancel.abort(reason);
  expect((await results).filter((result) => result.status === "rejected" && result.reason === reason).length).toBeGreaterThan(200);
  connection.close();
  for (const result of await others) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "api_unreachable" });
});
