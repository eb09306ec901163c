import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Clock, createClock, systemClock } from "../clock.ts";
import { ApiError, isNotFound, isTransient } from "./api-error.ts";
import type { Connection } from "./connection.ts";
import type { ApiRequest } from "./exchange.ts";
import { sendRequest } from "./send-request.ts";
import { answer, answerStatus, pause, TestApi, until } from "./testing/test-api.ts";

const path = "/apis/batch/v1/namespaces/n/jobs";
let api: TestApi;
let connection: Connection;

beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
});
afterEach(() => api.stop());

/** Records the waits and does not wait. */
function impatient(waits: number[] = []): Clock {
  return createClock({
    now: systemClock.now,
    after: (ms, callback) => {
      waits.push(ms);
      return systemClock.after(0, callback, true);
    },
  });
}

/** Answers the first requests by the given acts, the rest normally. */
function first(...acts: ((response: ServerResponse) => void)[]): void {
  let next = 0;
  api.hook = (_, response) => {
    const act = acts[next++];
    act?.(response);
    return act !== undefined;
  };
}

const status =
  (code: number, headers = {}) =>
  (response: ServerResponse) =>
    answerStatus(response, code, "Some", "why", headers);
const reset = (response: ServerResponse) => response.socket!.destroy();
const get: ApiRequest = { method: "GET", path };
const post: ApiRequest = { method: "POST", path, body: { metadata: { name: "a" } } };
const failed = (req: ApiRequest, options = {}) =>
  sendRequest(connection, req, { clock: impatient(), ...options }).then(
    () => expect.unreachable(),
    (error: unknown) => error as ApiError,
  );

describe("what is repeated", () => {
  test.each([429, 500, 502, 503, 504])("a GET answered %i", async (code) => {
    first(status(code), status(code));
    await expect(sendRequest(connection, get, { clock: impatient() })).resolves.toMatchObject({ status: 200 });
    expect(api.seen).toHaveLength(3);
  });

  test("a GET whose connection breaks", async () => {
    first(reset, reset);
    await sendRequest(connection, get, { clock: impatient() });
    expect(api.seen).toHaveLength(3);
  });

  test("a mutation answered 429, after the time the server asks for", async () => {
    first(status(429, { "retry-after": "2" }));
    const waits: number[] = [];
    await expect(sendRequest(connection, post, { clock: impatient(waits) })).resolves.toMatchObject({ status: 201 });
    expect(waits).toEqual([2000]);
  });

  test("a mutation while the server is down: nothing was sent", async () => {
    await api.down();
    const waits: number[] = [];
    const clock = impatient(waits);
    const error = await failed(post, { clock });
    expect(error).toMatchObject({ code: "api_unreachable", systemCode: "ECONNREFUSED", maybeApplied: false });
    expect(waits).toHaveLength(3);
    await api.up();
  });

  test("an idempotent mutation whose answer was lost; a later error still says so", async () => {
    first(reset);
    await sendRequest(connection, { ...post, idempotent: true }, { clock: impatient() });
    first(reset, status(409));
    expect(await failed({ ...post, idempotent: true })).toMatchObject({ httpStatus: 409, maybeApplied: true });
  });
});

describe("what is not repeated", () => {
  test.each([500, 503, 504])("a mutation answered %i", async (code) => {
    first(status(code), status(code));
    expect(await failed(post)).toMatchObject({ code: "api_status", httpStatus: code, maybeApplied: true });
    expect(api.seen).toHaveLength(1);
  });

  test("a GET of an object that is not there", async () => {
    const error = await failed({ ...get, path: `${path}/none` });
    expect([isNotFound(error), isTransient(error)]).toEqual([true, false]);
    expect(api.seen).toHaveLength(1);
  });

  test.each([400, 403, 409, 410, 422])("a GET answered %i", async (code) => {
    first(status(code), status(code));
    const error = await failed(get);
    expect(error).toMatchObject({ code: "api_status", httpStatus: code, reason: "Some", maybeApplied: false });
    expect(error.message).toContain("why");
    expect(isTransient(error)).toBe(false);
    expect(api.seen).toHaveLength(1);
  });

  test("a mutation whose answer was lost: before, or in the middle of it", async () => {
    first(reset);
    expect(await failed(post)).toMatchObject({ code: "api_unreachable", maybeApplied: true });
    first((response) => {
      response.writeHead(201, { "content-length": "100" });
      response.write("{", () => response.socket!.destroy());
    });
    expect(await failed(post)).toMatchObject({ code: "api_unreachable", maybeApplied: true });
    expect(api.seen).toHaveLength(2);
  });

  test("a mutation that hangs", async () => {
    first(() => {});
    expect(await failed({ ...post, timeoutMs: 500 })).toMatchObject({ code: "api_timeout", maybeApplied: true });
    expect(api.seen).toHaveLength(1);
  });

  test("a Retry-After beyond the bound: the error contains it", async () => {
    first(status(429, { "retry-after": "3600" }));
    expect(await failed(get)).toMatchObject({ httpStatus: 429, retryAfterSec: 3600 });
    expect(api.seen).toHaveLength(1);
  });

  test("more than the given number of times, with growing waits", async () => {
    api.hook = (_, response) => {
      answerStatus(response, 503, "ServiceUnavailable", "no");
      return true;
    };
    const waits: number[] = [];
    await failed(get, { attempts: 5, clock: impatient(waits), random: () => 1 });
    expect(waits).toEqual([200, 400, 800, 1600]);
    expect(api.seen).toHaveLength(5);
  });
});

test("a body that stalls after the headers times out", async () => {
  first((response) => response.writeHead(200).write("{"));
  expect(await failed({ ...get, timeoutMs: 50 }, { attempts: 1 })).toMatchObject({ code: "api_timeout", maybeApplied: false });
});

test("an answer that is not JSON", async () => {
  first((response) => response.writeHead(200).end("<html>secret</html>"));
  const bad = await failed(get);
  expect(bad).toMatchObject({ code: "api_bad_answer", httpStatus: 200 });
  expect(bad.message).not.toContain("secret");
});

test.each<[string, (response: ServerResponse) => void]>([
  ["a proxy's page", (response) => response.writeHead(404).end("<html>\n<b>default backend</b>")],
  ["a Status of a proxy, which names no kind", (response) => answerStatus(response, 404, "NotFound", "kubernetes cluster not found")],
])("a 404 that says nothing about the object: %s", async (_, answer404) => {
  first(answer404);
  const unknown = await failed(get, { attempts: 1 });
  expect(unknown).toMatchObject({ code: "api_status", httpStatus: 404 });
  expect([isNotFound(unknown), isTransient(unknown)]).toEqual([false, true]);
  first(answer404);
  expect(await sendRequest(connection, get)).toMatchObject({ status: 200 });
});

test("an abort ends the request, the wait between two tries, and nothing is sent afterwards", async () => {
  first(() => {});
  const stop = new AbortController();
  const running = sendRequest(connection, { ...post, signal: stop.signal });
  await until(() => api.seen.length === 1);
  stop.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");

  first(status(429, { "retry-after": "20" }));
  const again = new AbortController();
  const waiting = sendRequest(connection, { ...get, signal: again.signal });
  await until(() => api.seen.length === 2);
  await pause(30);
  again.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(sendRequest(connection, { ...get, signal: again.signal })).rejects.toThrow("enough");
  expect(api.seen).toHaveLength(2);
});

test("many requests use few connections", async () => {
  api.hook = (_, response) => {
    setTimeout(() => answer(response, 200, {}), 1);
    return true;
  };
  await Promise.all(Array.from({ length: 500 }, () => sendRequest(connection, get)));
  expect(api.seen).toHaveLength(500);
  expect(api.connections).toBeLessThanOrEqual(32);
  const before = api.connections;
  for (let i = 0; i < 20; i++) await sendRequest(connection, get);
  expect(api.connections).toBe(before);
});

test("a request in flight when the connection is closed ends, and later ones are refused", async () => {
  first(() => {});
  const running = failed({ ...get, timeoutMs: 600_000 });
  await until(() => api.seen.length === 1);
  connection.close();
  expect(await running).toBeInstanceOf(ApiError);
  expect(await failed(get)).toMatchObject({ code: "api_unreachable" });
  expect(api.seen).toHaveLength(1);
});
