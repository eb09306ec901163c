import { afterEach, beforeEach, expect, test } from "vitest";
import type { Connection } from "./connection.ts";
import { SharedEvents, sharedEvents } from "./shared-events.ts";
import { handClock } from "./testing/hand-clock.ts";
import { answerStatus, TestApi } from "./testing/test-api.ts";

const path = "/api/v1/namespaces/n/events";
let api: TestApi;
let connection: Connection;
let hand: ReturnType<typeof handClock>;
let events: SharedEvents;
beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
  hand = handClock();
  events = new SharedEvents(connection, "n", hand.clock);
});
afterEach(() => api.stop());

let made = 0;
const happen = (uid: string, reason: string, second = 0, type = "Warning") =>
  api.put(path, `e${++made}`, { involvedObject: { uid }, type, reason, lastTimestamp: `2026-01-01T00:00:0${second}Z` });
/** Of each list's first page. */
const selectors = () =>
  api
    .lists(path)
    .filter(({ query }) => !query.has("continue"))
    .map(({ query }) => query.get("fieldSelector"));
async function ask(...uids: string[]): Promise<string[][]> {
  const answers = uids.map((uid) => events.about(uid).then((found) => found.map(({ reason }) => reason)));
  await hand.pass(300);
  return Promise.all(answers);
}

test("thirty objects are asked for by one list, each gets its own events, oldest first", async () => {
  const uids = Array.from({ length: 30 }, (_, n) => `u${n}`);
  for (const uid of uids) happen(uid, `of ${uid}`, 5);
  happen("u3", "earlier", 1);
  happen("another", "not asked for");
  const found = await ask(...uids);
  expect(found[3]).toEqual(["earlier", "of u3"]);
  expect(found[29]).toEqual(["of u29"]);
  expect(await ask("u4", "u5")).toEqual([["of u4"], ["of u5"]]);
  expect(selectors()).toEqual([null]);
  // Two seconds later it is read again.
  await hand.pass(2000);
  happen("u4", "later", 9);
  expect((await ask("u4", "u5"))[0]).toEqual(["of u4", "later"]);
  expect(selectors()).toEqual([null, null]);
});

test("a list that does not have the object may be older than it, and does not answer for it", async () => {
  happen("u1", "a");
  expect(await ask("u1", "u2")).toEqual([["a"], []]);
  happen("u2", "b");
  expect(await ask("u2", "u3")).toEqual([["b"], []]);
  expect(selectors()).toEqual([null, null]);
});

test("a single object is asked for by itself", async () => {
  happen("u1", "a");
  await ask("u1");
  await hand.pass(2000);
  await ask("u1", "u1");
  expect(selectors()).toEqual(Array(3).fill("involvedObject.uid=u1"));
});

const WARNINGS = "type!=Normal";
const alone = (...uids: string[]) => uids.map((uid) => `involvedObject.uid=${uid}`);

test("a namespace with too many events: one list of its warnings, and only who has one is asked for by itself", async () => {
  for (let n = 0; n < 1001; n++) happen("others", "x", 0, "Normal");
  happen("u1", "Scheduled", 1, "Normal");
  happen("u2", "FailedMount", 1);
  happen("u2", "Pulling", 2, "Normal");
  expect(await ask("u1", "u2", "u3")).toEqual([[], ["FailedMount", "Pulling"], []]);
  await hand.pass(5000);
  happen("u3", "FailedMount", 3);
  expect(await ask("u1", "u3")).toEqual([[], ["FailedMount"]]);
  // The whole is not tried again soon.
  expect(selectors()).toEqual([null, WARNINGS, ...alone("u2"), WARNINGS, ...alone("u3")]);
  await hand.pass(60_000);
  await ask("u1", "u3");
  expect(selectors().slice(-3)).toEqual([null, WARNINGS, ...alone("u3")]);
});

test("a namespace with too many warnings: each object by itself, and no list of all is tried again soon", async () => {
  for (let n = 0; n < 1001; n++) happen("others", "x");
  await ask("u1", "u2");
  await hand.pass(5000);
  await ask("u1", "u2");
  const [first, second, ...rest] = selectors();
  expect([first, second]).toEqual([null, WARNINGS]);
  expect(rest.sort()).toEqual(alone("u1", "u1", "u2", "u2"));
});

test("a list that fails is everybody's failure, and is tried anew by the next who ask", async () => {
  api.hook = (_, response) => {
    answerStatus(response, 403, "Forbidden", "events is forbidden");
    return true;
  };
  const denied = Promise.allSettled([events.about("u1"), events.about("u2")]);
  await hand.pass(250);
  expect((await denied).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  api.hook = () => false;
  happen("u2", "a");
  expect(await ask("u1", "u2")).toEqual([[], ["a"]]);
});

test.each([null, [], "text", { items: 3 }, { items: [null, 1, { involvedObject: 7 }] }])("an answer that is no list: %j", async (body) => {
  api.hook = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  expect(await ask("u1", "u2")).toEqual([[], []]);
});

test("one reader for each namespace of a connection", () => {
  expect(sharedEvents(connection, "n")).toBe(sharedEvents(connection, "n"));
  expect(sharedEvents(connection, "n")).not.toBe(sharedEvents(connection, "m"));
});
