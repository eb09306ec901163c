import type { ToolCallEntry, ToolResultEntry } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { type Fields, fieldsOf, textOf } from "@paperclip-k8s/paperclip/agent-cli/json-fields";

/** What of a tool's input a reader wants to see first. */
const SUBJECTS = ["command", "file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description", "prompt"];

export function callEntry(part: Fields): ToolCallEntry {
  const input = fieldsOf(part.input);
  const title = SUBJECTS.map((name) => textOf(input[name])).find((text) => text !== "") ?? "";
  return { kind: "tool_call", id: textOf(part.id), tool: textOf(part.name) || "tool", title, input: part.input ?? {} };
}

/** The first line of a failed command's output is its exit code. */
export function resultEntry(part: Fields): ToolResultEntry {
  const isError = part.is_error === true;
  const text = contentText(part.content);
  const exit = isError ? /^Exit code (\d+)(?:\n|$)/.exec(text) : null;
  const rest = exit === null ? text : text.slice(exit[0].length);
  return {
    kind: "tool_result",
    id: textOf(part.tool_use_id),
    tool: "",
    text: rest,
    isError,
    exitCode: exit === null ? null : Number(exit[1]),
  };
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  const texts = content.map(fieldsOf).map((part) => (part.type === "text" ? textOf(part.text) : `[${textOf(part.type) || "content"}]`));
  return texts.join("\n");
}
