import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { ExecutionResult } from "../host/types.ts";
import { RunLog } from "../observe/log.ts";
import { hostContext } from "../testing/host-context.ts";
import { commentOnIssue } from "./comment.ts";
import type { Way } from "./way-out.ts";

const result: ExecutionResult = { exitCode: 1, signal: null, timedOut: false, summary: "It failed. Comment here." };
const HOST = { context: { issueId: "issue/1" }, change: { authToken: "t" } };

async function comment(way: Way | null, answer: RequestListener, call = HOST, idleMs?: number): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { ctx, log } = hostContext(call);
  const env = { PAPERCLIP_LISTEN_PORT: String((server.address() as AddressInfo).port) };
  const run = new RunLog(ctx.onLog);
  await commentOnIssue({ result, way, ifCancelled: null }, ctx, env, run);
  await run.idle(idleMs);
  return log();
}

test("where a person may have to act, the summary is the run's own comment", async () => {
  const asked: string[] = [];
  const answer: RequestListener = async (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization} ${await text(request)}`);
    response.end("{}");
  };
  const last = { ...HOST, context: { ...HOST.context, scheduledRetryAttempt: 2 } };
  const elder = { ...HOST, change: { ...HOST.change, onCancellationReady: undefined } };
  for (const way of ["person", "held"] as const) expect(await comment(way, answer)).toBe("");
  for (const call of [last, elder]) expect(await comment("continue", answer, call)).toBe("");
  expect(asked).toEqual(Array(4).fill('POST /api/issues/issue%2F1/comments Bearer t {"body":"It failed. Comment here."}'));
  // The host continues by itself: said once, when it does so no more.
  for (const way of ["continue", "retry", "free", null] as const) await comment(way, answer);
  await comment("person", answer, { ...HOST, context: { issueId: "" } });
  await comment("person", answer, { ...HOST, change: {} as { authToken: string } });
  expect(asked).toHaveLength(4);
});

test("a host that refuses it costs a line in the log, and the run nothing", async () => {
  const log = await comment("person", (_, response) => void response.writeHead(403).end('{"error":"no"}'));
  expect(log).toMatch(/^stderr: \[paperclip\] no comment on the issue: POST http.*HTTP 403 no\n$/);
});

test("nor does a host that refuses it and takes no line of the log either", async () => {
  const call = { ...HOST, change: { ...HOST.change, onLog: () => new Promise<void>(() => {}) } };
  await comment("person", (_, response) => void response.writeHead(403).end("{}"), call, 1);
});
