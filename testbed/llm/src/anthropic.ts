import { idsOf, isSilent, pause, pieces, sendJson, startStream, type Turn, weightOf } from "./respond.ts";
import { anthropicUsage } from "./usage.ts";

interface Block {
  readonly type: "text" | "thinking" | "tool_use";
  readonly [key: string]: unknown;
}

function blocks({ answer, id }: Turn): Block[] {
  if (answer.kind === "tool")
    return idsOf(`toolu_${id}`, answer).map((id) => ({ type: "tool_use", id, name: answer.tool, input: answer.input }));
  const text: Block[] = answer.text === "" ? [] : [{ type: "text", text: answer.text }];
  return answer.reasoning ? [{ type: "thinking", thinking: answer.reasoning, signature: "scripted" }, ...text] : text;
}

function stopReason({ answer }: Turn): string {
  if (answer.kind === "tool") return "tool_use";
  if (answer.end === "refused") return "refusal";
  return answer.end === "cut-off" ? "max_tokens" : "end_turn";
}

type Send = (event: { readonly type: string; readonly [key: string]: unknown }) => void;

async function streamBlock(turn: Turn, block: Block, index: number, send: Send): Promise<void> {
  const delta = (delta: object) => send({ type: "content_block_delta", index, delta });
  if (block.type === "tool_use") {
    await pause(turn);
    send({ type: "content_block_start", index, content_block: { ...block, input: {} } });
    delta({ type: "input_json_delta", partial_json: JSON.stringify(block.input) });
  } else if (block.type === "thinking") {
    send({ type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } });
    delta({ type: "thinking_delta", thinking: block.thinking });
    delta({ type: "signature_delta", signature: block.signature });
  } else {
    send({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
    for await (const text of pieces(String(block.text), turn)) delta({ type: "text_delta", text });
  }
  send({ type: "content_block_stop", index });
}

/** One answer in the format of Anthropic's messages. */
export async function answerAnthropic(turn: Turn): Promise<void> {
  const { response } = turn;
  const usage = anthropicUsage(weightOf(turn), isSilent(turn));
  const message = {
    id: `msg_${turn.id}`,
    type: "message",
    role: "assistant",
    model: turn.model,
    stop_sequence: null,
    usage,
  };
  if (!turn.stream) {
    await pause(turn);
    sendJson(response, 200, { ...message, content: blocks(turn), stop_reason: stopReason(turn) });
    return;
  }
  startStream(response);
  const send: Send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  send({ type: "message_start", message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of blocks(turn).entries()) await streamBlock(turn, block, index, send);
  send({
    type: "message_delta",
    delta: { stop_reason: stopReason(turn), stop_sequence: null },
    usage: { output_tokens: usage.output_tokens },
  });
  send({ type: "message_stop" });
  response.end();
}

/** An error as Anthropic's API words it. */
export const anthropicError = (type: string, message: string) => ({ type: "error", error: { type, message } });
