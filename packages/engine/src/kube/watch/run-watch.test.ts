import { afterEach, beforeEach, expect, test } from "vitest";
import type { Connection } from "../connection.ts";
import { handClock } from "../testing/hand-clock.ts";
import { answerStatus, pause, TestApi, until } from "../testing/test-api.ts";
import type { ClusterFact } from "../views.ts";
import { RunWatch, type RunWatchOptions, runWatch } from "./run-watch.ts";
import type { Subscription } from "./subscription.ts";

const jobs = "/apis/batch/v1/namespaces/n/jobs";
const pods = "/api/v1/namespaces/n/pods";
let api: TestApi;
let connection: Connection;
let watch: RunWatch | null;

beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
});
afterEach(async () => {
  watch?.close();
  watch = null;
  await api.stop();
});

function start(options: RunWatchOptions = {}): RunWatch {
  watch = new RunWatch(connection, "n", "app=x", { backoff: { minMs: 5, maxMs: 40 }, steadyMs: 10, ...options });
  return watch;
}

function subscribe(to: RunWatch, name: string, uid?: string): { facts: ClusterFact[]; words: () => string[]; subscription: Subscription } {
  const facts: ClusterFact[] = [];
  const subscription = to.subscribe(name, (fact) => facts.push(fact), uid);
  const words = () =>
    facts.map((fact) => {
      if (fact.kind === "job") return `job ${fact.job.uid}`;
      if (fact.kind === "pod" || fact.kind === "pod-gone") return `${fact.kind} ${fact.pod.name}`;
      return fact.kind;
    });
  return { facts, words, subscription };
}

const putPod = (name: string, job: { metadata: { name: string; uid: string } }, fields = {}) =>
  api.put(pods, name, {
    metadata: { ownerReferences: [{ kind: "Job", name: job.metadata.name, uid: job.metadata.uid, controller: true }] },
    ...fields,
  });

/** Makes the next watch of Jobs answer 410, so that they are listed again. */
async function relist(): Promise<void> {
  api.oldest = 1_000_000;
  api.hook = ({ query, path }) => {
    if (path === jobs && !query.has("watch")) api.oldest = 0;
    return false;
  };
  const lists = api.lists(jobs).length;
  api.cut(jobs);
  await until(() => api.lists(jobs).length > lists && api.watches.size === 2);
}

test("100 subscribers share two lists and two watches, and quiet costs nothing more", async () => {
  const shared = runWatch(connection, "n", "app=x");
  watch = shared;
  expect(runWatch(connection, "n", "app=x")).toBe(shared);
  expect(runWatch(connection, "n", "app=y")).not.toBe(shared);
  const all = Array.from({ length: 100 }, (_, i) => subscribe(shared, `j${i}`));
  await shared.ready;
  await until(() => api.watches.size === 2);
  for (let i = 0; i < 100; i++) putPod(`p${i}`, api.put(jobs, `j${i}`));
  await until(() => all.every(({ facts }) => facts.length === 2));
  expect(all[7]?.words().sort()).toEqual([expect.stringMatching(/^job uid-/), "pod p7"]);
  await pause(100);
  expect(api.seen).toHaveLength(4);
});

test("a late subscriber gets at once what is known", async () => {
  putPod("p", api.put(jobs, "a"));
  const shared = start();
  subscribe(shared, "other");
  await shared.ready;
  expect(subscribe(shared, "a").words()).toEqual(["job uid-101", "pod p"]);
});

test("pods are routed by label where the owner is missing", async () => {
  const shared = start();
  const { words } = subscribe(shared, "a");
  await shared.ready;
  api.put(pods, "p", { metadata: { labels: { "batch.kubernetes.io/job-name": "a" } } });
  await until(() => words().length === 1);
  expect(words()).toEqual(["pod p"]);
});

test("job-gone only for a Job that was seen", async () => {
  const shared = start();
  const a = subscribe(shared, "a");
  const b = subscribe(shared, "b");
  await shared.ready;
  await relist();
  expect(a.words()).toEqual([]);
  api.put(jobs, "a");
  api.remove(jobs, "a");
  await until(() => a.facts.length === 2);
  expect(a.words()).toEqual([expect.stringMatching(/^job /), "job-gone"]);
  expect(b.words()).toEqual([]);
});

test("known to exist, then missing in a list that began later: gone, once", async () => {
  const shared = start();
  subscribe(shared, "other");
  await shared.ready;
  await until(() => api.watches.size === 2);
  const { words } = subscribe(shared, "a", "uid-never-seen");
  await pause(30);
  expect(words()).toEqual([]);
  await relist();
  await until(() => words().length === 1);
  expect(words()).toEqual(["job-gone"]);
  await relist();
  expect(words()).toEqual(["job-gone"]);
});

test("known to exist while a list is under way: that list proves nothing", async () => {
  let release = () => {};
  api.hook = ({ path, query }, response) => {
    if (path !== jobs || query.has("watch")) return false;
    release = () => response.writeHead(200).end(JSON.stringify({ metadata: { resourceVersion: "100" }, items: [] }));
    return true;
  };
  const shared = start();
  subscribe(shared, "other");
  await until(() => api.lists(jobs).length === 1);
  const { metadata } = api.put(jobs, "a");
  const { words } = subscribe(shared, "a", metadata.uid);
  release();
  await shared.ready;
  await until(() => words().length === 1);
  expect(words()).toEqual([`job ${metadata.uid}`]);
});

test("subscribed a moment after the Job was seen to go: gone", async () => {
  const shared = start();
  const other = subscribe(shared, "b");
  await shared.ready;
  await until(() => api.watches.size === 2);
  const { metadata } = api.put(jobs, "a");
  api.remove(jobs, "a");
  api.put(jobs, "b");
  await until(() => other.facts.length === 1);
  expect(subscribe(shared, "a").words()).toEqual([]);
  const { words } = subscribe(shared, "a", metadata.uid);
  expect(words()).toEqual(["job-gone"]);
});

test("once known to exist, another Job of the name does not count, before or after", async () => {
  const shared = start();
  const first = subscribe(shared, "a");
  await shared.ready;
  await until(() => api.watches.size === 2);
  const before = api.put(jobs, "a");
  putPod("p-before", before);
  await until(() => first.words().length === 2);
  const { words } = subscribe(shared, "a", "uid-mine");
  api.remove(jobs, "a");
  api.remove(pods, "p-before");
  putPod("p-after", api.put(jobs, "a"));
  putPod("p-mine", { metadata: { name: "a", uid: "uid-mine" } });
  await until(() => words().includes("pod p-mine"));
  await pause(30);
  expect(words()).toEqual(["pod p-mine"]);
});

test("a Job that came and went unseen is looked for by one list", async () => {
  const shared = start({ unseenMs: 500 });
  subscribe(shared, "other");
  await shared.ready;
  await until(() => api.watches.size === 2);
  const seen = subscribe(shared, "b", api.put(jobs, "b").metadata.uid);
  const { words } = subscribe(shared, "a", "uid-came-and-went");
  await until(() => words().length === 1);
  expect(words()).toEqual(["job-gone"]);
  await until(() => api.watches.size === 2);
  await pause(100);
  expect(api.lists(jobs)).toHaveLength(2);
  expect(seen.words()).toEqual([expect.stringMatching(/^job /)]);
});

test("subscribed by uid: a former bearer of the name is never heard of", async () => {
  putPod("p-before", api.put(jobs, "a"));
  const shared = start();
  subscribe(shared, "a");
  await shared.ready;
  const words: string[] = [];
  shared.subscribe("a", (fact) => words.push(fact.kind), "uid-mine");
  putPod("p-mine", { metadata: { name: "a", uid: "uid-mine" } });
  api.remove(jobs, "a");
  await until(() => words.length === 1);
  await pause(30);
  expect(words).toEqual(["pod"]);
});

test("the pod's last state comes with its end", async () => {
  const shared = start();
  const { facts } = subscribe(shared, "a");
  await shared.ready;
  await until(() => api.watches.size === 2);
  putPod("p", api.put(jobs, "a"), { status: { containerStatuses: [{ name: "c", state: { terminated: { exitCode: 143 } } }] } });
  api.remove(pods, "p");
  await until(() => facts.length === 3);
  expect(facts.find(({ kind }) => kind === "pod-gone")).toMatchObject({
    pod: { containers: [{ state: { kind: "terminated", exitCode: 143 } }] },
  });
});

test("the view is lost when either watch is and back when both are; nobody is called gone", async () => {
  api.put(jobs, "a");
  const shared = start();
  const a = subscribe(shared, "a");
  await shared.ready;
  await until(() => api.watches.size === 2);
  await api.down();
  await until(() => a.words().includes("api-lost"));
  await pause(60);
  expect(subscribe(shared, "b").words()).toEqual(["api-lost"]);
  await api.up();
  await until(() => a.words().includes("api-back"));
  expect(a.words().slice(1)).toEqual(["api-lost", "api-back"]);
});

test("pods may not be listed: lost, with the reason; Jobs are still reported", async () => {
  api.put(jobs, "a");
  api.hook = ({ path }, response) => {
    if (path === pods) answerStatus(response, 403, "Forbidden", "pods is forbidden");
    return path === pods;
  };
  const { facts } = subscribe(start(), "a");
  await until(() => facts.length === 2);
  expect(facts).toContainEqual({
    kind: "api-lost",
    error: expect.stringMatching(/answers 403 Forbidden.*pods is forbidden/),
    forPeople: true,
  });
});

test("one listener that throws does not keep the others from hearing", async () => {
  const warned = new Promise<Error>((resolve) => void process.once("warning", resolve));
  const shared = start();
  shared.subscribe("a", () => {
    throw new Error("mine");
  });
  const { facts } = subscribe(shared, "a");
  await shared.ready;
  api.put(jobs, "a");
  await until(() => facts.length === 1);
  expect((await warned).message).toBe("mine");
});

test("stops some time after the last subscriber, goes on if one comes in between, starts anew later", async () => {
  const { clock, pass } = handClock();
  const shared = start({ lingerMs: 80, clock });
  const first = subscribe(shared, "a");
  await shared.ready;
  await until(() => api.watches.size === 2);
  first.subscription.close();
  first.subscription.close();
  await pass(79);
  const second = subscribe(shared, "a");
  await pass(1_000);
  await pause(30);
  expect(api.watches.size).toBe(2);
  second.subscription.close();
  await pass(80);
  await until(() => api.watches.size === 0);
  await expect(shared.ready).rejects.toThrow("first subscriber");
  const third = subscribe(shared, "a");
  await shared.ready;
  api.put(jobs, "a");
  await until(() => third.facts.length === 1);
  expect(first.facts).toHaveLength(0);
});
