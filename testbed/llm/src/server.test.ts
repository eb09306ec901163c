import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { defaultText, type Llm, refusalText, startLlm, summaryText, titleText, usage, WRONG_KEY } from "./index.ts";

let llm: Llm;
beforeAll(async () => {
  llm = await startLlm();
});
afterAll(() => llm.stop());
let seen = 0;
beforeEach(() => {
  seen = llm.requests.length;
});

const tools = [{ type: "function", function: { name: "bash" } }, { name: "Read" }];
const user = (content: unknown) => ({ role: "user", content });

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(llm.url + path, {
    method: "POST",
    headers: { authorization: "Bearer a-key" },
    body: JSON.stringify({ model: "m", tools, ...body }),
    signal,
  });
}

const openai = (body: object, signal?: AbortSignal) => post("/v1/chat/completions", body, signal);
const anthropic = (body: object, signal?: AbortSignal) => post("/v1/messages", body, signal);

interface WireEvent {
  readonly type: string;
  readonly choices: { delta: Record<string, string> }[];
  readonly delta: { partial_json: string };
}

async function events(response: Response): Promise<WireEvent[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!));
}

// biome-ignore lint/suspicious/noExplicitAny: answers of either wire format
const json = async (response: Response): Promise<any> => response.json();

test("OpenAI, not streamed: a tool call first, text once its result is there, with all token counts", async () => {
  const first = await json(await openai({ messages: [user("please use-tool")] }));
  expect(first.choices[0].finish_reason).toBe("tool_calls");
  const call = first.choices[0].message.tool_calls[0];
  expect(JSON.parse(call.function.arguments)).toEqual({ command: "echo hello-from-tool", description: "Print a greeting" });
  const result = { role: "tool", tool_call_id: call.id, content: "hello-from-tool" };
  const second = await json(await openai({ messages: [user("please use-tool"), { role: "assistant" }, result] }));
  expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: defaultText } });
  expect(second.usage).toEqual({
    prompt_tokens: 1200,
    completion_tokens: 57,
    total_tokens: 1257,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  });
});

test("an earlier turn's tool result does not end the new turn's script", async () => {
  const messages = [user("use-tool"), { role: "tool", content: "old" }, { role: "assistant", content: "done" }, user("use-tool again")];
  expect((await json(await openai({ messages }))).choices[0].finish_reason).toBe("tool_calls");
});

test("OpenAI, streamed: pieces add up, reasoning apart, usage last", async () => {
  const chunks = await events(await openai({ stream: true, messages: [user("think, then say: ünïcode 🙂 text")] }));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  expect(deltas.map((delta) => delta.reasoning_content ?? "").join("")).toBe("The script asks me to think first.");
  expect(deltas.map((delta) => delta.content ?? "").join("")).toBe(defaultText);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 1257 } });
});

test("Anthropic, streamed: tool input arrives whole, and its result in a user message is no user text", async () => {
  const first = await events(
    await anthropic({ stream: true, messages: [user([{ type: "text", text: "bash:ls -la" }])], tools: [{ name: "Bash" }] }),
  );
  const delta = first.find((event) => event.type === "content_block_delta");
  expect(JSON.parse(delta!.delta.partial_json).command).toBe("ls -la");
  const result = user([{ type: "tool_result", tool_use_id: "t", content: "x" }]);
  const second = await json(await anthropic({ messages: [user("bash:ls -la"), { role: "assistant" }, result], tools: [{ name: "Bash" }] }));
  expect(second).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: defaultText }] });
  expect(second.usage).toMatchObject({
    input_tokens: 400,
    cache_read_input_tokens: 800,
    cache_creation_input_tokens: 60,
    output_tokens: 57,
  });
});

test("remember lists the user texts, without the CLI's reminders", async () => {
  const reminder = user([
    { type: "text", text: "<system-reminder>hang</system-reminder>" },
    { type: "text", text: "remember" },
  ]);
  const answer = await json(await anthropic({ messages: [user("say: one"), { role: "assistant", content: "one" }, reminder] }));
  expect(answer.content[0].text).toBe("1. say: one\n2. remember");
});

test.each([
  ["model-error", 400, 400, "invalid_request_error"],
  ["unauthorized", 401, 401, "authentication_error"],
  ["no-such-model", 404, 404, "not_found_error"],
  ["quota", 429, 429, "rate_limit_error"],
  ["overloaded", 503, 529, "overloaded_error"],
])("%s answers %i (OpenAI) and %i (Anthropic)", async (word, openaiStatus, anthropicStatus, type) => {
  const one = await openai({ messages: [user(`now ${word}!`)] });
  expect(one.status).toBe(openaiStatus);
  expect((await json(one)).error.type).toBe(type);
  const other = await anthropic({ messages: [user(word)] });
  expect(other.status).toBe(anthropicStatus);
  expect(await json(other)).toMatchObject({ type: "error", error: { type } });
  if (word === "quota") expect(other.headers.get("retry-after")).toBe("3600");
});

test("a wrong key and a model with the name of an error are refused whatever the prompt says", async () => {
  const body = JSON.stringify({ model: "m", messages: [user("say: hello")] });
  const refused = await fetch(`${llm.url}/v1/messages`, { method: "POST", headers: { "x-api-key": WRONG_KEY }, body });
  expect(refused.status).toBe(401);
  expect((await anthropic({ model: "no-such-model", messages: [user("say: hello")] })).status).toBe(404);
});

test("a subscription's limit says when it is reset", async () => {
  const refused = await anthropic({ messages: [user("usage-limit")] });
  expect(refused.status).toBe(429);
  expect(refused.headers.get("anthropic-ratelimit-unified-reset")).toBe("1900000000");
});

test("any tool that is offered can be called by name, another cannot", async () => {
  const ask = async (tool: string) =>
    json(await anthropic({ messages: [user(`call:${tool} {"a":1}`)], tools: [{ name: "mcp__x__Look" }] }));
  expect((await ask("mcp__x__look")).content[0]).toMatchObject({ type: "tool_use", name: "mcp__x__Look", input: { a: 1 } });
  expect((await ask("mcp__y__look")).content[0]).toMatchObject({ type: "text" });
});

test("refuse declines, say-nothing is silent, a CLI's own notes change neither", async () => {
  const note = user("Your response above was stopped by a safety classifier, do not repeat it.");
  const refused = await json(await anthropic({ messages: [user("refuse"), { role: "assistant", content: "no" }, note] }));
  expect(refused).toMatchObject({ stop_reason: "refusal", content: [{ text: refusalText }] });
  expect((await json(await openai({ messages: [user("refuse")] }))).choices[0].finish_reason).toBe("content_filter");
  expect(await json(await anthropic({ messages: [user("say-nothing")] }))).toMatchObject({ content: [], usage: { output_tokens: 0 } });
});

test("break-off ends in the middle of the text", async () => {
  const body = { stream: true, messages: [user("break-off")] };
  const text = anthropic(body).then((response) => response.text());
  await expect(text).rejects.toThrow();
});

test.each(["corrupted-session", "bad-image"])("%s fails only in a resumed session", async (word) => {
  const resumed = [user("say: one"), { role: "assistant", content: "one" }, user(word)];
  expect((await anthropic({ messages: resumed })).status).toBe(400);
  expect((await anthropic({ messages: [user(word)] })).status).toBe(200);
});

test("words within other words pick nothing", async () => {
  const answer = await json(await openai({ messages: [user("changes, rethinking, airdrops, quotas, use-tooling")] }));
  expect(answer.choices[0].message.content).toBe(defaultText);
});

test("requests for a title or a summary are no turn", async () => {
  const ask = async (system: string) =>
    json(await openai({ tools: [], messages: [{ role: "system", content: system }, user("model-error")] }));
  expect((await ask("You are a title generator")).choices[0].message.content).toBe(titleText);
  expect((await ask("You are a context summarization agent")).choices[0].message.content).toBe(summaryText);
});

test("many-steps ends when the CLI says so, endless-steps does not", async () => {
  const stop = { role: "assistant", content: "CRITICAL - MAXIMUM STEPS REACHED" };
  const finish = async (word: string, ...rest: object[]) =>
    (await json(await openai({ messages: [user(word), ...rest] }))).choices[0].finish_reason;
  expect(await finish("many-steps", { role: "tool", content: "step 1" })).toBe("tool_calls");
  expect(await finish("many-steps", stop)).toBe("stop");
  expect(await finish("endless-steps", stop)).toBe("tool_calls");
});

test("slow-N takes its time, cut-off ends by the output limit", async () => {
  const start = performance.now();
  await (await openai({ stream: true, messages: [user("slow-0.3")] })).text();
  expect(performance.now() - start).toBeGreaterThan(280);
  expect((await json(await openai({ messages: [user("cut-off")] }))).choices[0].finish_reason).toBe("length");
});

test("hang never answers, drop breaks off", async () => {
  await expect(openai({ messages: [user("hang")] }, AbortSignal.timeout(150))).rejects.toThrow();
  await expect(openai({ messages: [user("drop")] }).then((response) => response.text())).rejects.toThrow();
});

test("requests are recorded as they were sent", async () => {
  await (await openai({ messages: [user("say: hi")] })).text();
  await (await post("/v1/messages/count_tokens", { messages: [user("x")] })).text();
  const [turn, count] = llm.requests.slice(seen);
  expect(turn).toMatchObject({
    apiKey: "a-key",
    model: "m",
    stream: false,
    tools: 2,
    toolNames: ["bash", "Read"],
    userTexts: ["say: hi"],
    reply: "text",
  });
  expect(count).toMatchObject({ path: "/v1/messages/count_tokens", reply: undefined });
  expect((await json(await fetch(`${llm.url}/v1/models`))).data[0].id).toBe("scripted");
  expect((await fetch(`${llm.url}/nothing`)).status).toBe(404);
});

test("a body that is no JSON is refused, and stop ends what hangs", async () => {
  const other = await startLlm();
  expect((await fetch(`${other.url}/v1/messages`, { method: "POST", body: "{" })).status).toBe(400);
  const hanging = fetch(`${other.url}/v1/messages`, { method: "POST", body: JSON.stringify({ messages: [user("hang")] }) });
  while (other.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([other.stop(), expect(hanging).rejects.toThrow()]);
});
