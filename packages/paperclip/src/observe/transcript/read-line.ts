import type { Entry } from "../../agent-cli/entry.ts";
import { unfold } from "./fold.ts";
import { mark, STATUS } from "./marks.ts";
import { readToolCall } from "./read-tool-call.ts";
import { readStep } from "./step-line.ts";

/** What one transcript line means, trimmed or not. Needs nothing but the line: the host asks for lines in any order. */
export function readLine(line: string): Entry | undefined {
  const trimmed = line.trim();
  if (trimmed === "") return undefined;
  if (trimmed.startsWith(STATUS)) return { kind: "status", text: trimmed };
  const isMarked = trimmed.length === 1 || trimmed.charAt(1) === " ";
  return (isMarked ? readMarked(trimmed.charAt(0), trimmed.slice(2)) : undefined) ?? { kind: "other", text: trimmed };
}

function readMarked(first: string, text: string): Entry | undefined {
  switch (first) {
    case mark.assistant:
    case mark.assistantMore:
      return { kind: "assistant", text };
    case mark.thinking:
    case mark.thinkingMore:
      return { kind: "thinking", text };
    case mark.call:
      return readToolCall(text);
    case mark.success:
    case mark.failure:
      return readResult(text, first === mark.failure);
    case mark.stepEnd:
    case mark.stepGoesOn:
      return readStep(text, first === mark.stepGoesOn);
    case mark.error:
      return { kind: "error", text: unfold(text) };
    case mark.init:
      return readInit(text);
    case mark.foreign:
      return { kind: "other", text };
    default:
      return undefined;
  }
}

function readResult(text: string, failed: boolean): Entry | undefined {
  const parts = /^(?:exit (-?\d+) )?#(\S*)(?: (.*))?$/s.exec(text);
  if (!parts) return undefined;
  const [, exit, id = "", folded = ""] = parts;
  return { kind: "tool_result", id, tool: "", text: unfold(folded), isError: failed, exitCode: exit === undefined ? null : Number(exit) };
}

function readInit(text: string): Entry | undefined {
  const parts = /^(?:session (\S+))?(?: · )?(?:model (.+))?$/.exec(text);
  return parts ? { kind: "init", sessionId: parts[1] ?? "", model: parts[2] ?? "" } : undefined;
}
