import type { Entry, StepTokens } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { type Fields, fieldsOf, numberOrNull, parseFields, textOf, textOrNull } from "@paperclip-k8s/paperclip/agent-cli/json-fields";
import { callEntry, resultEntry } from "./tool-entries.ts";
import { ERROR_CHARS, readResult, resultEntries, type TurnResult } from "./turn-result.ts";
import { messageTokens } from "./usage.ts";

/** An error of the API that Claude Code reports in place of an answer. */
export interface ApiFault {
  /** Claude Code's name for it: authentication_failed, model_not_found, rate_limit, server_error, overloaded, invalid_request, unknown … */
  readonly error: string;
  readonly status: number | null;
  readonly text: string;
}

/** What a message has used so far; several events may be about one message. */
export interface MessageUsage {
  readonly id: string;
  readonly tokens: StepTokens;
}

/** One line that is an event of Claude Code. */
export interface ClaudeEvent {
  readonly type: string;
  /** Whether this adapter knows events of that type. */
  readonly known: boolean;
  /** Of the CLI itself. */
  readonly version: string | null;
  /** A turn begins: Claude Code may take another one after its result. */
  readonly begins: boolean;
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly usage: MessageUsage | null;
  readonly fault: ApiFault | null;
  /** It waits and asks the API again; the fault is the reason. */
  readonly retries: boolean;
  /** When a used-up limit comes back, in milliseconds. */
  readonly resetsAt: number | null;
  readonly result: TurnResult | null;
  /** Of the main conversation, not of a sub-agent. */
  readonly isMain: boolean;
  readonly entries: readonly Entry[];
}

const nothing = {
  version: null,
  begins: false,
  model: null,
  usage: null,
  fault: null,
  retries: false,
  resetsAt: null,
  result: null,
  entries: [],
} as const;

const READ = ["system", "assistant", "user", "rate_limit_event", "result"];
/** Known types without anything that we use. */
const SKIPPED = ["stream_event", "keep_alive", "tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion"];
const KNOWN = [...READ, ...SKIPPED, "control_request", "control_response", "control_cancel_request"];

/** The event in a line; undefined for any other line, such as a tool's own output or half an event. */
export function readEvent(line: string): ClaudeEvent | undefined {
  const event = parseFields(line.trim());
  const type = textOf(event?.type);
  if (!event || type === "") return undefined;
  const isMain = typeof event.parent_tool_use_id !== "string";
  return { ...nothing, type, known: KNOWN.includes(type), sessionId: textOrNull(event.session_id), isMain, ...partsOf(type, event) };
}

/** What the event in a line means to a reader; undefined = it is none that this adapter knows. */
export function readEntries(line: string): readonly Entry[] | undefined {
  const event = readEvent(line);
  return event?.known ? event.entries : undefined;
}

function partsOf(type: string, event: Fields): Partial<ClaudeEvent> {
  switch (type) {
    case "system":
      return systemParts(event);
    case "assistant":
      return assistantParts(event);
    case "user":
      return { entries: contentOf(event).flatMap((part) => (part.type === "tool_result" ? [resultEntry(part)] : [])) };
    case "rate_limit_event": {
      const { status, resetsAt } = fieldsOf(event.rate_limit_info);
      const at = numberOrNull(resetsAt);
      return { resetsAt: status === "rejected" && at !== null ? at * 1000 : null };
    }
    case "result": {
      const result = readResult(event);
      return { result, entries: resultEntries(result) };
    }
    default:
      return {};
  }
}

function systemParts(event: Fields): Partial<ClaudeEvent> {
  switch (event.subtype) {
    case "init": {
      const model = textOrNull(event.model);
      const version = textOrNull(event.claude_code_version);
      return { begins: true, model, version, entries: [{ kind: "init", sessionId: textOf(event.session_id), model: model ?? "" }] };
    }
    case "api_retry":
      return retryParts(event);
    case "compact_boundary":
      return { entries: [{ kind: "other", text: "the context was compacted" }] };
    case "informational":
      return { entries: [{ kind: "other", text: textOf(event.content) }] };
    default:
      return {};
  }
}

function retryParts(event: Fields): Partial<ClaudeEvent> {
  const error = textOf(event.error).slice(0, 200) || "unknown";
  const status = numberOrNull(event.error_status);
  const why = `${error.replaceAll("_", " ")}${status === null ? "" : ` (${status})`}`;
  const wait = `${((numberOrNull(event.retry_delay_ms) ?? 0) / 1000).toFixed(1)} s`;
  const text = `API retry ${numberOrNull(event.attempt) ?? "?"} of ${numberOrNull(event.max_retries) ?? "?"} in ${wait}: ${why}`;
  return { retries: true, fault: { error, status, text: why }, entries: [{ kind: "other", text }] };
}

/** Claude Code's name for the author of messages that no model wrote. */
const SYNTHETIC = "<synthetic>";

function assistantParts(event: Fields): Partial<ClaudeEvent> {
  const message = fieldsOf(event.message);
  const parts = contentOf(event);
  if (event.is_api_error_message === true) {
    const text = parts
      .map((part) => textOf(part.text))
      .join("\n")
      .slice(0, ERROR_CHARS);
    // The result event has the same text.
    return { fault: { error: textOf(event.error) || "unknown", status: numberOrNull(event.api_error_status), text } };
  }
  return {
    model: message.model === SYNTHETIC ? null : textOrNull(message.model),
    usage: { id: textOf(message.id), tokens: messageTokens(fieldsOf(message.usage)) },
    entries: parts.flatMap(assistantEntry),
  };
}

function assistantEntry(part: Fields): Entry[] {
  switch (part.type) {
    case "text":
      return [{ kind: "assistant", text: textOf(part.text) }];
    case "thinking":
      return [{ kind: "thinking", text: textOf(part.thinking) }];
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return [callEntry(part)];
    default:
      return [];
  }
}

function contentOf(event: Fields): Fields[] {
  const { content } = fieldsOf(event.message);
  return Array.isArray(content) ? content.map(fieldsOf) : [];
}
