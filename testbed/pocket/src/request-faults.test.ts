import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { StatusBody } from "./status.ts";
import { call, openWatch, secrets, until } from "./test-client.ts";

// Faults on the wire: each does what it says, to what it matches, and stops when undone.

let cluster: Pocket;

beforeAll(async () => {
  cluster = await startPocket({ timings: { bookmark: 50 } });
  cluster.createNamespace("a");
});
afterAll(() => cluster.stop());

const create = (name: string) => call<StatusBody>(cluster, "POST", secrets("a"), { metadata: { name } });
const list = () => call<StatusBody>(cluster, "GET", secrets("a"));
const exists = (name: string) => cluster.get("secrets", "a", name) !== undefined;

describe("requests", () => {
  test.each([
    [500, "InternalError"],
    [503, "ServiceUnavailable"],
    [403, "Forbidden"],
  ])("the next one fails with %i", async (status, reason) => {
    const fault = cluster.faults.fail({ verb: "create", resource: "secrets" }, { status });
    expect((await list()).status).toBe(200);
    expect(await create(`fails-${status}`)).toMatchObject({ status, body: { kind: "Status", reason, code: status } });
    expect(exists(`fails-${status}`)).toBe(false);
    expect(fault.hits).toBe(1);
    expect((await create(`fails-${status}`)).status).toBe(201);
  });

  test("429 says when to come back", async () => {
    cluster.faults.fail({ resource: "secrets" }, { status: 429, retryAfter: 2 });
    const reply = await list();
    expect(reply.headers.get("retry-after")).toBe("2");
    expect(reply).toMatchObject({ status: 429, body: { reason: "TooManyRequests", details: { retryAfterSeconds: 2 } } });
  });

  test("every one fails until undone, by name", async () => {
    const fault = cluster.faults.fail({ name: /^x/ }, { status: 500, times: Number.POSITIVE_INFINITY });
    const get = (name: string) => call(cluster, "GET", `${secrets("a")}/${name}`);
    expect([(await get("x1")).status, (await get("x2")).status, (await get("y")).status]).toEqual([500, 500, 404]);
    fault.undo();
    expect((await get("x1")).status).toBe(404);
    expect(fault.hits).toBe(2);
  });

  test("hang: no answer, nothing done", async () => {
    cluster.faults.hang({ verb: "create" });
    const signal = AbortSignal.timeout(150);
    const headers = { authorization: `Bearer ${cluster.token}` };
    const body = JSON.stringify({ metadata: { name: "hung" } });
    await expect(fetch(`${cluster.url}${secrets("a")}`, { method: "POST", headers, body, signal })).rejects.toThrow("timeout");
    expect(exists("hung")).toBe(false);
    expect(cluster.requests.at(-1)).toMatchObject({ verb: "create", status: null });
  });

  test("delay", async () => {
    const fault = cluster.faults.delay({ verb: "list" }, 120);
    const started = performance.now();
    expect((await list()).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(115);
    expect(fault.hits).toBe(1);
  });

  test("the connection drops before the write, or after it", async () => {
    cluster.faults.drop({ verb: "create" }, { when: "before" });
    await expect(create("before")).rejects.toThrow();
    expect(exists("before")).toBe(false);
    cluster.faults.drop({ verb: "create" }, { when: "after" });
    await expect(create("after")).rejects.toThrow();
    expect(exists("after")).toBe(true);
    expect((await create("after")).body.reason).toBe("AlreadyExists");
  });

  test("a permission taken away and given back", async () => {
    const fault = cluster.faults.deny({ verb: "list", resource: "secrets" });
    expect((await list()).status).toBe(403);
    fault.undo();
    expect((await list()).status).toBe(200);
  });
});

describe("watches", () => {
  const names = (events: { type: string; object: { metadata: { name: string } } }[]) =>
    events.filter(({ type }) => type !== "BOOKMARK").map(({ type, object }) => `${type} ${object.metadata.name}`);
  const from = () => `&resourceVersion=${latest()}`;
  const latest = () => Math.max(...cluster.list("secrets").map(({ metadata }) => Number(metadata.resourceVersion)));

  test("cut: all end, or those that match", async () => {
    const one = await openWatch(cluster, secrets("a"));
    const other = await openWatch(cluster, "/api/v1/namespaces/a/configmaps");
    expect(cluster.faults.cutWatches({ resource: "secrets" })).toBe(1);
    await one.done;
    expect(other.ended).toBe(false);
    expect(cluster.faults.cutWatches()).toBe(1);
    await other.done;
  });

  test("silenced: open, without events and bookmarks, also new ones, until undone", async () => {
    const log = await openWatch(cluster, secrets("a"), `${from()}&allowWatchBookmarks=true`);
    await until(() => log.events.length > 0, "a bookmark");
    const fault = cluster.faults.silenceWatches();
    const second = await openWatch(cluster, secrets("a"), "&allowWatchBookmarks=true");
    const before = log.events.length;
    await create("unheard");
    await sleep(150);
    expect(log.events.length).toBe(before);
    expect(second.events).toEqual([]);
    expect([log.ended, second.ended]).toEqual([false, false]);
    expect(fault.hits).toBe(2);
    fault.undo();
    await create("heard");
    await until(() => names(log.events).includes("ADDED heard"), "the next event");
    expect(names(log.events)).toEqual(["ADDED heard"]);
    await Promise.all([log.stop(), second.stop()]);
  });

  test("duplicated events", async () => {
    const log = await openWatch(cluster, secrets("a"), from());
    const fault = cluster.faults.duplicateEvents({ resource: "secrets" });
    await create("twice");
    fault.undo();
    await create("once");
    await until(() => log.events.length >= 3, "three events");
    expect(names(log.events)).toEqual(["ADDED twice", "ADDED twice", "ADDED once"]);
    await log.stop();
  });

  test("expired history: 410 as an event, or as an answer; a fresh list can be resumed from", async () => {
    const old = from();
    cluster.faults.expireHistory();
    const first = await openWatch(cluster, secrets("a"), old);
    await first.done;
    expect(first.events).toMatchObject([{ type: "ERROR", object: { code: 410, reason: "Expired" } }]);
    cluster.faults.expireHistory({ as: "http" });
    const second = await openWatch(cluster, secrets("a"), old);
    await second.done;
    expect(second.status).toBe(410);
    const listed = await call<{ metadata: { resourceVersion: string } }>(cluster, "GET", secrets("a"));
    const third = await openWatch(cluster, secrets("a"), `&resourceVersion=${listed.body.metadata.resourceVersion}`);
    await create("fresh");
    await until(() => third.events.length > 0, "the event");
    expect(names(third.events)).toEqual(["ADDED fresh"]);
    await third.stop();
  });
});

test("the API server is down and up again: watches end, connections are refused, state is kept", async () => {
  await create("kept");
  const log = await openWatch(cluster, secrets("a"));
  await cluster.faults.down();
  await log.done;
  await expect(list()).rejects.toThrow("fetch failed");
  await cluster.faults.up();
  expect((await call(cluster, "GET", `${secrets("a")}/kept`)).status).toBe(200);
});
