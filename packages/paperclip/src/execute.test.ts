import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createEngine } from "@paperclip-k8s/engine";
import { expect, onTestFinished, test } from "vitest";
import { execute } from "./execute.ts";
import { exampleCli } from "./testing/example-cli.ts";
import { hostContext } from "./testing/host-context.ts";

test("a refused setting: the cause is in the result, in the log and, before the run ends, on its issue", async () => {
  const comments: string[] = [];
  const host = createServer(async (request, response) => {
    const body = await text(request);
    // A host that takes its time.
    setTimeout(() => {
      comments.push(`${request.url} ${body}`);
      response.end("{}");
    }, 50);
  }).listen(0, "127.0.0.1");
  await once(host, "listening");
  onTestFinished(() => void host.close());
  const { ctx, log } = hostContext({
    config: { image: "no image" },
    context: { issueId: "issue-1" },
    change: { authToken: "t" },
  });
  const serverEnv = { PAPERCLIP_LISTEN_PORT: String((host.address() as AddressInfo).port) };
  const result = await execute(exampleCli, ctx, { engine: createEngine(), serverEnv });
  expect(result).toMatchObject({
    errorCode: "configuration_incomplete",
    errorMessage: expect.stringContaining('not "no image"'),
    summary: expect.stringMatching(
      /^The agent was not started: .*not "no image"\. Correct it on the agent's Runtime page\. Then comment here/,
    ),
  });
  expect(comments).toEqual([`/api/issues/issue-1/comments ${JSON.stringify({ body: result.summary })}`]);
  expect(log()).toContain(result.errorMessage);
});
