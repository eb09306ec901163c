import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lackingAccess, mayAccess } from "./access-review.ts";
import type { Connection } from "./connection.ts";
import { permissions } from "./permissions.ts";
import { answer, answerStatus, type Seen, TestApi } from "./testing/test-api.ts";

let api: TestApi;
let connection: Connection;
beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
});
afterEach(() => api.stop());

type Attributes = { readonly verb: string; readonly resource: string; readonly group: string; readonly namespace: string };
const asked = (seen: Seen) => (JSON.parse(seen.body) as { spec: { resourceAttributes: Attributes } }).spec.resourceAttributes;
const retry = { attempts: 1 };

function answerReviews(status: (attributes: Attributes) => object): void {
  api.hook = (seen: Seen, response: ServerResponse) => {
    answer(response, 201, { status: status(asked(seen)) });
    return true;
  };
}

test("yes, no, and an authorizer that does not know", async () => {
  const row = permissions[0]!;
  answerReviews(() => ({ allowed: true }));
  expect(await mayAccess(connection, "n", row)).toBe(true);
  expect(asked(api.seen[0]!)).toEqual({ namespace: "n", verb: row.verb, resource: row.resource, group: row.group });
  answerReviews(() => ({ allowed: false }));
  expect(await mayAccess(connection, "n", row)).toBe(false);
  answerReviews(() => ({ allowed: false, evaluationError: "webhook down" }));
  expect(await mayAccess(connection, "n", row)).toBeNull();
});

test("what a run would miss too late is asked once for a namespace, whoever asks first", async () => {
  answerReviews(() => ({ allowed: true }));
  expect(await Promise.all([lackingAccess(connection, "n"), lackingAccess(connection, "n")])).toEqual([null, null]);
  await lackingAccess(connection, "n");
  expect(api.seen.map(asked).map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(["get jobs", "delete jobs", "create secrets"]);
  await lackingAccess(connection, "other");
  expect(api.seen).toHaveLength(6);
});

test("a no names the row and is asked again", async () => {
  answerReviews(({ verb }) => ({ allowed: verb !== "delete" }));
  expect((await lackingAccess(connection, "n"))?.message).toMatch(/^not allowed to delete jobs in namespace n: .*"delete" on "jobs.batch"/);
  answerReviews(() => ({ allowed: true }));
  expect(await lackingAccess(connection, "n")).toBeNull();
});

test.each([
  [403, "Forbidden", 3],
  [503, "ServiceUnavailable", 6],
])("reviews that are answered with %i hold nobody up", async (status, reason, requests) => {
  api.hook = (_, response) => {
    answerStatus(response, status, reason, "no");
    return true;
  };
  expect(await lackingAccess(connection, "n", { retry })).toBeNull();
  expect(await lackingAccess(connection, "n", { retry })).toBeNull();
  expect(api.seen).toHaveLength(requests);
});
