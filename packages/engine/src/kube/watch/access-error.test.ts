import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Connection } from "../connection.ts";
import { answerStatus, type Seen, TestApi } from "../testing/test-api.ts";
import { RunWatch } from "./run-watch.ts";

// What the shared watch says to a run that is about to start when the account may not look.

let api: TestApi;
let connection: Connection;
let watch: RunWatch;
beforeEach(async () => {
  api = await TestApi.start();
  connection = await api.connect();
  watch = new RunWatch(connection, "n", "app=x", { backoff: { minMs: 60_000, maxMs: 60_000 } });
});
afterEach(async () => {
  watch.close();
  await api.stop();
});

function listen(): string[] {
  const kinds: string[] = [];
  watch.subscribe("a", (fact) => kinds.push(fact.kind));
  return kinds;
}

const refuse = (verb: string, resource: string) => (seen: Seen, response: ServerResponse) => {
  const asked = seen.query.has("watch") ? "watch" : "list";
  if (asked !== verb || !seen.path.endsWith(`/${resource}`)) return false;
  const message = `${resource} is forbidden: User "u" cannot ${verb} resource "${resource}" in API group "" in the namespace "n"`;
  answerStatus(response, 403, "Forbidden", message);
  return true;
};

test.each(["list", "watch"])("who may not %s gets that as the reason, after one more try; who is let in again, at once", async (verb) => {
  api.hook = refuse(verb, "pods");
  const kinds = listen();
  expect(await watch.accessError()).toMatchObject({ denied: { verb, resource: "pods", namespace: "n" } });
  expect(await watch.accessError()).toMatchObject({ denied: { verb } });
  expect(kinds).toEqual(["api-lost"]);
  api.hook = () => false;
  expect(await watch.accessError()).toBeNull();
  expect(kinds).toEqual(["api-lost", "api-back"]);
});

test("trouble is no refusal, and not waited for twice", async () => {
  api.hook = (_, response) => {
    answerStatus(response, 503, "ServiceUnavailable", "later");
    return true;
  };
  listen();
  expect(await watch.accessError()).toBeNull();
  const before = api.seen.length;
  expect(await watch.accessError()).toBeNull();
  expect(api.seen).toHaveLength(before);
});

test("a watch that is stopped keeps nobody waiting", async () => {
  api.hook = () => true;
  listen();
  const waiting = watch.accessError();
  watch.close();
  expect(await waiting).toBeNull();
});
