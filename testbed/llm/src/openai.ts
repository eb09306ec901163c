import { idsOf, isSilent, pause, pieces, sendJson, startStream, type Turn, weightOf } from "./respond.ts";
import { openaiUsage } from "./usage.ts";

function finishReason({ answer }: Turn): string {
  if (answer.kind === "tool") return "tool_calls";
  if (answer.end === "refused") return "content_filter";
  return answer.end === "cut-off" ? "length" : "stop";
}

function toolCalls({ answer, id }: Turn) {
  if (answer.kind !== "tool") return [];
  const called = { type: "function", function: { name: answer.tool, arguments: JSON.stringify(answer.input) } };
  return idsOf(`call_${id}`, answer).map((id) => ({ id, ...called }));
}

function message(turn: Turn) {
  const { answer } = turn;
  if (answer.kind === "tool") return { role: "assistant", content: null, tool_calls: toolCalls(turn) };
  return { role: "assistant", content: answer.text, ...(answer.reasoning && { reasoning_content: answer.reasoning }) };
}

/** One answer in the format of OpenAI's chat completions. */
export async function answerOpenai(turn: Turn): Promise<void> {
  const { response, answer } = turn;
  const base = { id: `chatcmpl-${turn.id}`, created: 1_700_000_000 + turn.id, model: turn.model };
  if (!turn.stream) {
    await pause(turn);
    const choices = [{ index: 0, message: message(turn), finish_reason: finishReason(turn) }];
    sendJson(response, 200, { ...base, object: "chat.completion", choices, usage: openaiUsage(weightOf(turn), isSilent(turn)) });
    return;
  }
  startStream(response);
  const send = (rest: object) => response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...rest })}\n\n`);
  const delta = (delta: object, finish_reason: string | null = null) => send({ choices: [{ index: 0, delta, finish_reason }] });
  delta({ role: "assistant", content: "" });
  if (answer.kind === "tool") {
    await pause(turn);
    delta({ tool_calls: toolCalls(turn).map((call, index) => ({ index, ...call })) });
  } else {
    if (answer.reasoning) delta({ reasoning_content: answer.reasoning });
    for await (const content of pieces(answer.text, turn)) delta({ content });
  }
  delta({}, finishReason(turn));
  send({ choices: [], usage: openaiUsage(weightOf(turn), isSilent(turn)) });
  response.end("data: [DONE]\n\n");
}

/** An error as OpenAI's API words it. */
export const openaiError = (type: string, message: string) => ({ error: { message, type, param: null, code: type } });
