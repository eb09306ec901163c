// The real CLI whose model is elsewhere: whom it asks besides.
import { fileURLToPath } from "node:url";
import { startLlm, startOutside } from "@paperclip-k8s/llm";
import { runCli } from "@paperclip-k8s/llm/run-cli";
import { expect, test } from "vitest";
import { makeHome, plannedCall } from "../../../paperclip/src/testing/planned-call.ts";
import { kit } from "../../testing/kit.ts";

const program = fileURLToPath(new URL("../../../../node_modules/.bin/claude", import.meta.url));

test("nobody but the model is asked, and the answer is the same", async () => {
  const [llm, outside] = [await startLlm(), await startOutside()];
  const { model, provider } = kit.scriptedModel(llm);
  const results = [];
  for (const more of [{}, kit.start.uncut.env]) {
    const place = makeHome();
    const before = outside.asked.length;
    const env = { ...outside.env, ...provider, ...kit.start.env, ...more };
    const { stdout, exitCode } = await runCli({
      ...(await plannedCall(kit.cli, program, place.home, { model, env })),
      stdin: "say: hello",
    });
    const parser = kit.cli.createParser();
    for (const line of stdout.split("\n")) parser.push(line);
    const { costUsd, text, inputTokens, outputTokens } = parser.report();
    results.push({ report: { exitCode, costUsd, text, inputTokens, outputTokens }, asked: outside.asked.slice(before) });
    place.remove();
  }
  await Promise.all([llm.stop(), outside.stop()]);
  const [quiet, loud] = results;
  expect(quiet?.report).toEqual(loud?.report);
  expect(quiet).toMatchObject({ report: { exitCode: 0 }, asked: [] });
  expect(new Set(loud?.asked)).toContain("api.anthropic.com");
});
