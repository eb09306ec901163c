import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClock, systemClock, type Timers } from "../../clock.ts";
import type { Connection } from "../connection.ts";
import { handClock } from "../testing/hand-clock.ts";
import { answer, answerStatus, pause, TestApi, until } from "../testing/test-api.ts";
import { ListWatch, type ListWatchOptions } from "./list-watch.ts";

const path = "/apis/batch/v1/namespaces/n/jobs";
let api: TestApi;
let connection: Connection;
let facts: string[];
let watch: ListWatch<string> | null;

beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
  facts = [];
});
afterEach(async () => {
  watch?.stop();
  watch = null;
  await api.stop();
});

/** Views are "name@version" here, facts are "+view", "-view", "lost code", "back". */
function start(options: Partial<ListWatchOptions<string>> = {}): ListWatch<string> {
  watch = new ListWatch<string>({
    connection,
    path,
    labelSelector: "app=x",
    project: (raw) => {
      const { metadata, step } = raw as { metadata: { name: string }; step?: number };
      return `${metadata.name}@${step ?? 0}`;
    },
    jobOf: (view) => view,
    listener: {
      upsert: (view) => void facts.push(`+${view}`),
      gone: (view) => void facts.push(`-${view}`),
      lost: (error) => void facts.push(`lost ${error.systemCode ?? error.httpStatus ?? error.code}`),
      back: () => void facts.push("back"),
    },
    backoff: { minMs: 5, maxMs: 40 },
    steadyMs: 10,
    ...options,
  });
  return watch;
}

const watching = () => until(() => api.watches.size === 1, "one open watch");
const listCount = () => api.lists(path).length;

test("lists by pages, then watches from the list's version with bookmarks and a time limit", async () => {
  for (let i = 0; i < 7; i++) api.put(path, `j${i}`);
  await start({ pageSize: 3 }).ready;
  await watching();
  expect(facts).toEqual(Array.from({ length: 7 }, (_, i) => `+j${i}@0`));
  expect(api.lists(path).map(({ query }) => [query.get("limit"), query.get("continue")])).toEqual([
    ["3", null],
    ["3", "3"],
    ["3", "6"],
  ]);
  const [{ query } = { query: new URLSearchParams() }] = api.watchRequests(path);
  expect(Object.fromEntries(query)).toMatchObject({
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion: "107",
    labelSelector: "app=x",
  });
  expect(Number(query.get("timeoutSeconds"))).toBeGreaterThanOrEqual(280);
  expect(Number(query.get("timeoutSeconds"))).toBeLessThanOrEqual(340);
});

test("a continue token that grew old: the list is read whole", async () => {
  for (let i = 0; i < 4; i++) api.put(path, `j${i}`);
  api.hook = ({ query }, response) => {
    if (!query.has("continue")) return false;
    answerStatus(response, 410, "Expired", "continue token too old");
    return true;
  };
  await start({ pageSize: 2 }).ready;
  expect(facts).toEqual(["+j0@0", "+j1@0", "+j2@0", "+j3@0"]);
  expect(api.lists(path).at(-1)?.query.has("limit")).toBe(false);
});

test("what was deleted while the list was read anew is gone", async () => {
  for (let i = 0; i < 4; i++) api.put(path, `j${i}`);
  api.hook = ({ query }, response) => {
    if (!query.has("continue")) return false;
    api.remove(path, "j0");
    answerStatus(response, 410, "Expired", "continue token too old");
    return true;
  };
  await start({ pageSize: 2 }).ready;
  expect(facts).toEqual(["+j0@0", "+j1@0", "+j2@0", "+j3@0", "-j0@0"]);
});

test("changes and deletions arrive; the last state comes with the deletion", async () => {
  await start().ready;
  await watching();
  api.put(path, "a", { step: 1 });
  api.put(path, "a", { step: 2 });
  api.remove(path, "a");
  await until(() => facts.length === 3);
  expect(facts).toEqual(["+a@1", "+a@2", "-a@2"]);
});

describe("resuming", () => {
  test.each([true, false])("after an end (clean: %s), by the last version, without a list or a loss", async (clean) => {
    await start().ready;
    await watching();
    const { metadata } = api.put(path, "a", { step: 1 });
    await until(() => facts.length === 1);
    api.cut(path, clean);
    api.put(path, "b", { step: 1 });
    await until(() => facts.length === 2);
    expect(facts).toEqual(["+a@1", "+b@1"]);
    expect(listCount()).toBe(1);
    expect(api.watchRequests(path)[1]?.query.get("resourceVersion")).toBe(metadata.resourceVersion);
  });

  test("after a cut in the middle of a line: that event comes whole from the next watch", async () => {
    await start().ready;
    await watching();
    api.send(path, '{"type":"ADDED","object":{"metadata":{"name":"half","uid":"u","resour');
    await pause(20);
    api.cut(path);
    await watching();
    api.put(path, "a");
    await until(() => facts.length === 1);
    expect(facts).toEqual(["+a@0"]);
  });

  test("from a bookmark", async () => {
    await start().ready;
    await watching();
    const version = api.bookmark(path);
    await pause(20);
    api.cut(path, true);
    await until(() => api.watchRequests(path).length === 2);
    expect(api.watchRequests(path)[1]?.query.get("resourceVersion")).toBe(String(version));
    expect(facts).toEqual([]);
  });

  test("after a silence no healthy watch keeps; bookmarks are no silence", async () => {
    const { clock, pass, looks } = handClock();
    await start({ idleMs: 120, clock }).ready;
    await watching();
    for (let i = 0; i < 4; i++) {
      await pass(100);
      const before = looks();
      api.bookmark(path);
      await until(() => looks() > before, "the bookmark");
    }
    await pass(119);
    expect(api.watches.size).toBe(1);
    await pass(1);
    await until(() => api.watchRequests(path).length === 2);
    expect(listCount()).toBe(1);
    expect(facts).toEqual([]);
  });

  test("repeated and old events are dropped and do not move the resume point back", async () => {
    await start().ready;
    await watching();
    const old = structuredClone(api.put(path, "a", { step: 1 }));
    const now = api.put(path, "a", { step: 2 });
    for (const object of [now, old, now]) api.send(path, { type: "MODIFIED", object });
    api.put(path, "b");
    await until(() => facts.includes("+b@0"));
    expect(facts).toEqual(["+a@1", "+a@2", "+b@0"]);
    api.send(path, { type: "MODIFIED", object: old });
    await pause(20);
    api.cut(path);
    await until(() => api.watchRequests(path).length === 2);
    expect(api.watchRequests(path)[1]?.query.get("resourceVersion")).toBe("103");
  });
});

describe("listing again", () => {
  const lose = async () => {
    api.put(path, "stays");
    api.put(path, "changes", { step: 1 });
    api.put(path, "goes");
    await start().ready;
    await watching();
    facts.length = 0;
  };
  const settled = async () => {
    await until(() => listCount() === 2 && facts.length === 3);
    expect(facts).toEqual(["+changes@2", "+new@0", "-goes@0"]);
    await watching();
  };
  /** Changes while nobody watches. */
  const change = () => {
    api.remove(path, "goes", true);
    api.put(path, "changes", { step: 2 });
    api.put(path, "new");
  };

  test("after HTTP 410", async () => {
    await lose();
    api.oldest = 1000;
    api.hook = ({ query }) => {
      if (!query.has("watch")) api.oldest = 0;
      return false;
    };
    api.cut(path);
    change();
    await settled();
  });

  test.each([410, 500])("after an ERROR event %i", async (code) => {
    await lose();
    const [open] = api.watches;
    api.watches.clear();
    change();
    open?.response.write(`${JSON.stringify({ type: "ERROR", object: { kind: "Status", code, reason: "Expired", message: "old" } })}\n`);
    await settled();
  });

  test("after a line that is no JSON", async () => {
    await lose();
    const [open] = api.watches;
    api.watches.clear();
    change();
    open?.response.write("<html>\n");
    await settled();
  });

  test("a name used again while nobody looked: the old object goes, the new one comes", async () => {
    api.put(path, "a", { step: 1 });
    await start().ready;
    await watching();
    api.oldest = 1000;
    api.hook = ({ query }) => {
      if (!query.has("watch")) api.oldest = 0;
      return false;
    };
    const [open] = api.watches;
    api.watches.clear();
    api.remove(path, "a", true);
    api.put(path, "a", { step: 7 });
    open?.response.destroy();
    await until(() => facts.length === 3);
    expect(facts).toEqual(["+a@1", "+a@7", "-a@1"]);
  });
});

describe("losing the connection", () => {
  test("server down and up again: lost once, back once, then the state as it is", async () => {
    api.put(path, "a");
    await start().ready;
    await watching();
    await api.down();
    await until(() => facts.includes("lost ECONNREFUSED"));
    await pause(100);
    api.put(path, "a", { step: 1 });
    await api.up();
    await until(() => facts.length === 4);
    expect(facts).toEqual(["+a@0", "lost ECONNREFUSED", "back", "+a@1"]);
  });

  /** A clock that records which pauses were made between two tries. */
  function notingClock() {
    const pauses: number[] = [];
    const after: Timers["after"] = (ms, callback) => {
      if (ms < idleMs) pauses.push(ms);
      return systemClock.after(ms, callback);
    };
    return { pauses, clock: createClock({ now: systemClock.now, after }) };
  }
  const idleMs = 90_000;

  test("no permission: lost, tried again with growing pauses, never gone", async () => {
    api.hook = (_, response) => {
      answerStatus(response, 403, "Forbidden", "no");
      return true;
    };
    const { pauses, clock } = notingClock();
    start({ random: () => 1, backoff: { minMs: 20, maxMs: 80 }, clock });
    await until(() => pauses.length === 4);
    expect(facts).toEqual(["lost 403"]);
    expect(pauses).toEqual([20, 40, 80, 80]);
    api.hook = () => false;
    await until(() => facts.includes("back"));
  });

  test("a server that closes every watch at once is not flooded, and nothing is called lost", async () => {
    api.hook = ({ query }, response) => {
      if (query.has("watch")) response.writeHead(200).end();
      return query.has("watch");
    };
    const { pauses, clock } = notingClock();
    await start({ backoff: { minMs: 10, maxMs: 1000 }, random: () => 1, steadyMs: idleMs, idleMs, clock }).ready;
    await until(() => api.watchRequests(path).length === 6);
    expect(pauses.slice(0, 5)).toEqual([10, 20, 40, 80, 80]);
    expect(facts).toEqual([]);
  });

  test("a watch that was quiet but lasted resets the pauses", async () => {
    let fail = 4;
    api.hook = (_, response) => {
      if (fail-- <= 0) return false;
      answerStatus(response, 503, "ServiceUnavailable", "no");
      return true;
    };
    const { pauses, clock } = notingClock();
    await start({ backoff: { minMs: 20, maxMs: 10_000 }, random: () => 1, idleMs, clock }).ready;
    await watching();
    await pause(20);
    api.cut(path, true);
    await until(() => api.watchRequests(path).length === 2);
    expect(pauses).toEqual([20, 40, 80, 160]);
  });

  test("a Retry-After is respected", async () => {
    let fail = 1;
    api.hook = (_, response) => {
      if (fail-- <= 0) return false;
      answerStatus(response, 429, "TooManyRequests", "slow down", { "retry-after": "7" });
      return true;
    };
    const waits: number[] = [];
    const after: Timers["after"] = (ms, callback) => {
      waits.push(ms);
      return systemClock.after(Math.min(ms, 20), callback);
    };
    await start({ clock: createClock({ now: systemClock.now, after }) }).ready;
    expect(waits[0]).toBe(7000);
  });
});

test("a listener that throws hurts nothing", async () => {
  const seen: string[] = [];
  const listener = {
    upsert: (view: string) => {
      seen.push(view);
      throw new Error("mine");
    },
    gone: () => {},
    lost: () => {},
    back: () => {},
  };
  api.put(path, "a");
  const warned = new Promise<Error>((resolve) => void process.once("warning", resolve));
  await start({ listener }).ready;
  await watching();
  api.put(path, "b");
  await until(() => seen.length === 2);
  expect((await warned).message).toBe("mine");
});

test("stop: the watch's connection closes, nothing is reported or asked any more", async () => {
  const listWatch = start();
  await listWatch.ready;
  await watching();
  listWatch.stop();
  await until(() => api.watches.size === 0);
  api.put(path, "a");
  await pause(50);
  expect(facts).toEqual([]);
  expect(api.seen).toHaveLength(2);
});

test("stop before the first list: ready rejects, once and quietly", async () => {
  api.hook = () => true;
  const listWatch = start();
  await pause(20);
  listWatch.stop();
  await expect(listWatch.ready).rejects.toThrow("stopped");
});

test("an answer in slow pieces is taken in", async () => {
  api.hook = ({ query }, response) => {
    if (query.has("watch")) return false;
    const body = Buffer.from(
      JSON.stringify({ metadata: { resourceVersion: "5" }, items: [{ metadata: { name: "ä", uid: "1", resourceVersion: "1" } }] }),
    );
    response.writeHead(200);
    void (async () => {
      for (const byte of body) {
        response.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
      response.end();
    })();
    return true;
  };
  await start().ready;
  expect(facts).toEqual(["+ä@0"]);
});

test("odd answers are survived: no items, objects without identity", async () => {
  api.hook = ({ query }, response) => {
    if (!query.has("watch")) answer(response, 200, { items: [{}, null, { metadata: {} }] });
    return !query.has("watch");
  };
  await start().ready;
  await watching();
  api.send(path, { type: "ADDED", object: null });
  api.send(path, { type: "WEIRD" });
  api.send(path, "17\n");
  api.put(path, "a");
  await until(() => facts.length === 1);
});
