// The real CLI with and without our cuts: the same models, costs and limits; fewer requests.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Llm, type Outside, startLlm, startOutside } from "@paperclip-k8s/llm";
import { runCli } from "@paperclip-k8s/llm/run-cli";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { emptyForNextPod, makeHome, type PlannedRun, plannedCall } from "../../../../paperclip/src/testing/planned-call.ts";
import { opencode } from "../../agent-cli.ts";
import { createParser } from "../parse.ts";

const program = fileURLToPath(new URL("../../../../../node_modules/.bin/opencode", import.meta.url));
/** As before there were any cuts. */
const WHOLE = { fastStart: false, titleByModel: true };
let llm: Llm;
let outside: Outside;
let place: ReturnType<typeof makeHome>;
beforeAll(async () => {
  [llm, outside] = [await startLlm(), await startOutside()];
});
beforeEach(() => {
  place = makeHome();
});
afterEach(() => place.remove());
afterAll(() => Promise.all([llm.stop(), outside.stop()]));

const env = (provider: string, more: Record<string, string> = {}) => ({
  ...outside.env,
  PAPERCLIP_OPENCODE_PROVIDERS: JSON.stringify({ [provider]: { options: { baseURL: `${llm.url}/v1`, apiKey: "key" } } }),
  ...more,
});

/** What a run costs and asks for. */
async function measure(run: PlannedRun, prompt = "say: hello") {
  const [before, askedBefore] = [llm.requests.length, outside.asked.length];
  const { stdout, exitCode } = await runCli({ ...(await plannedCall(opencode, program, place.home, run)), stdin: prompt });
  const parser = createParser();
  for (const line of stdout.split("\n")) parser.push(line);
  const { costUsd, tokens, sessionId } = parser.result();
  const requests = llm.requests.slice(before);
  const result = { exitCode, costUsd, tokens };
  return {
    result,
    sessionId,
    requests: requests.length,
    asked: outside.asked.slice(askedBefore),
    models: requests.map(({ model }) => model),
  };
}

test.each([
  "anthropic/claude-sonnet-4-6",
  "anthropic/claude-haiku-4-5",
  "openrouter/anthropic/claude-sonnet-5",
  "openrouter/google/gemini-2.5-flash",
])("%s costs the same, in one request instead of two, and nobody else is asked", async (model) => {
  const given = { model, env: env(model.split("/")[0]!) };
  const cut = await measure(given);
  place.remove();
  place = makeHome();
  const whole = await measure({ ...given, own: WHOLE });
  expect(cut.result).toEqual(whole.result);
  expect(cut.result).toMatchObject({ exitCode: 0, costUsd: expect.any(Number) });
  expect(cut.result.costUsd).toBeGreaterThan(0);
  expect([cut.requests, whole.requests]).toEqual([1, 2]);
  expect(cut.asked).toEqual([]);
  expect(whole.asked.length).toBeGreaterThan(0);
});

test("a resumed session keeps its title, and asks nobody else either", async () => {
  const given = { model: "anthropic/claude-sonnet-4-6", env: env("anthropic") };
  const first = await measure(given);
  await emptyForNextPod(opencode, program, place.home, given);
  const second = await measure({ ...given, sessionId: first.sessionId! }, "remember");
  expect([first.requests, second.requests, second.sessionId, second.asked]).toEqual([1, 1, first.sessionId, []]);
  expect(JSON.parse(await printed(given, ["session", "list", "--format", "json"]))).toMatchObject([{ title: "The issue's title" }]);
});

/** By way of a file: the CLI ends before a pipe has all of a long output. */
async function printed(run: PlannedRun, words: readonly string[]): Promise<string> {
  const { command, cwd, env } = await plannedCall(opencode, program, place.home, run);
  const file = join(place.home, "printed");
  const { exitCode } = await runCli({
    command: "/bin/sh",
    args: ["-c", `exec "$0" "$@" >"${file}"`, command, ...words],
    cwd,
    env,
    stdin: "",
  });
  expect(exitCode).toBe(0);
  return readFileSync(file, "utf8");
}

test("everything that is known of the models of many providers is the same", async () => {
  const keys = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
  ];
  const values = { ...outside.env, ...Object.fromEntries(keys.map((name) => [name, "key"])) };
  const given = { model: "anthropic/claude-sonnet-4-6", env: values };
  expect((await plannedCall(opencode, program, place.home, given)).env).toHaveProperty("OPENCODE_MODELS_PATH");
  const cut = await printed(given, ["models", "--verbose"]);
  place.remove();
  place = makeHome();
  const whole = await printed({ ...given, own: WHOLE }, ["models", "--verbose"]);
  expect(cut.match(/^(anthropic|openai|google|groq|mistral|xai|deepseek)\//gm)!.length).toBeGreaterThan(100);
  expect(cut === whole).toBe(true);
});

test("settings in the home are not cut: a model of theirs that no variable names can be used", async () => {
  const folder = join(place.home, ".config/opencode");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  const provider = { groq: { options: { baseURL: `${llm.url}/v1`, apiKey: "key" } } };
  writeFileSync(join(folder, "opencode.json"), JSON.stringify({ provider, small_model: "groq/openai/gpt-oss-20b" }));
  const { result, models } = await measure({ model: "anthropic/claude-sonnet-4-6", env: env("anthropic"), own: { titleByModel: true } });
  expect(result.exitCode).toBe(0);
  expect([...models].sort()).toEqual(["claude-sonnet-4-6", "openai/gpt-oss-20b"]);
});
