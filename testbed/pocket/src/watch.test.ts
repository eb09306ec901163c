import { afterAll, beforeAll, expect, test } from "vitest";
import { type Pocket, startPocket } from "./index.ts";
import type { KubeObject } from "./object.ts";
import { call, mergePatch, openWatch, secrets, until, WatchLog } from "./test-client.ts";

let cluster: Pocket;

beforeAll(async () => {
  cluster = await startPocket({ timings: { bookmark: 100 }, historyLimit: 200 });
  cluster.createNamespace("a");
});
afterAll(() => cluster.stop());

const create = (name: string, labels = {}) => call(cluster, "POST", secrets("a"), { metadata: { name, labels } });
const label = (name: string, labels: object) => call(cluster, "PATCH", `${secrets("a")}/${name}`, { metadata: { labels } }, mergePatch);
const version = async () =>
  (await call<{ metadata: { resourceVersion: string } }>(cluster, "GET", secrets("a"))).body.metadata.resourceVersion;
const brief = (log: WatchLog) => log.events.map(({ type, object }) => `${type} ${object.metadata.name}`);

test("an object that enters a selector is ADDED, one that leaves it DELETED with its last visible state", async () => {
  const log = await openWatch(cluster, secrets("a"), "&labelSelector=run%3D1");
  await create("moves", { run: "0" });
  await label("moves", { run: "1" });
  await label("moves", { also: "x" });
  const left = await label("moves", { run: "2" });
  await call(cluster, "DELETE", `${secrets("a")}/moves`);
  await create("last", { run: "1" });
  await until(() => log.events.length >= 4, "four events");
  expect(brief(log)).toEqual(["ADDED moves", "MODIFIED moves", "DELETED moves", "ADDED last"]);
  const gone = log.events[2]!.object as KubeObject;
  expect(gone.metadata.labels).toEqual({ run: "1", also: "x" });
  expect(gone.metadata.resourceVersion).toBe(left.body.metadata.resourceVersion);
  await log.stop();
});

test("without a version the state comes first; with one only what happened since", async () => {
  await create("state");
  const from = await version();
  const full = await openWatch(cluster, secrets("a"), "&fieldSelector=metadata.name%3Dstate");
  await until(() => full.events.length === 1, "the state");
  await label("state", { a: "1" });
  await call(cluster, "DELETE", `${secrets("a")}/state`);
  const resumed = await openWatch(cluster, secrets("a"), `&resourceVersion=${from}`);
  await until(() => resumed.events.length === 2 && full.events.length === 3, "both watches");
  expect(brief(full)).toEqual(["ADDED state", "MODIFIED state", "DELETED state"]);
  expect(brief(resumed)).toEqual(["MODIFIED state", "DELETED state"]);
  const versions = resumed.events.map(({ object }) => Number(object.metadata.resourceVersion));
  expect(versions[0]).toBeLessThan(versions[1]!);
  await Promise.all([full.stop(), resumed.stop()]);
});

test("bookmarks move on with changes of other resources, and timeoutSeconds ends the watch", async () => {
  const from = await version();
  const started = performance.now();
  const log = await openWatch(cluster, secrets("a"), `&resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=1`);
  await call(cluster, "POST", "/api/v1/namespaces/a/configmaps", { metadata: { name: "other" } });
  await log.done;
  expect(performance.now() - started).toBeGreaterThan(950);
  expect(new Set(log.events.map(({ type }) => type))).toEqual(new Set(["BOOKMARK"]));
  expect(Number(log.events.at(-1)!.object.metadata.resourceVersion)).toBeGreaterThan(Number(from));
  expect(log.events.at(-1)!.object.kind).toBe("Secret");
});

test("a version older than the history ends with an ERROR event of code 410", async () => {
  const from = await version();
  for (let i = 0; i < 201; i++) await label("last", { i: String(i) });
  const log = new WatchLog(cluster, secrets("a"), `&resourceVersion=${from}`);
  await log.done;
  expect(log.status).toBe(200);
  expect(log.events).toMatchObject([{ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } }]);
});

test("a streaming list ends its initial state with a marked bookmark", async () => {
  const query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const log = await openWatch(cluster, secrets("a"), query);
  const mark = await until(() => log.events.find(({ type }) => type === "BOOKMARK"), "the bookmark");
  expect(mark.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  await log.stop();
});
