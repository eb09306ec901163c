import type { PlainEntry, Entry as TranscriptEntry } from "@paperclip-k8s/paperclip/agent-cli/entry";
import {
  countOf,
  type Fields,
  fieldsOf,
  numberOrNull,
  parseFields,
  textOf,
  textOrNull,
} from "@paperclip-k8s/paperclip/agent-cli/json-fields";

export type { StepTokens } from "@paperclip-k8s/paperclip/agent-cli/entry";

/** An error the CLI itself reported. */
export interface CliError {
  readonly name: string;
  readonly message: string;
  readonly status: number | null;
  readonly retryable: boolean;
  readonly retryAfterSec: number | null;
  /** OpenCode's own reference to the line in its log with the cause. */
  readonly ref: string | null;
}

/** A transcript entry; an error keeps OpenCode's details. */
export type Entry =
  | Exclude<TranscriptEntry, PlainEntry>
  | { readonly kind: "error"; readonly text: string; readonly error: CliError }
  | { readonly kind: "other"; readonly text: string };

/** One line that is an event of OpenCode. */
export interface CliEvent {
  readonly type: string;
  /** Whether this adapter knows events of that type. */
  readonly known: boolean;
  readonly sessionId: string | null;
  readonly partId: string | null;
  /** It is a finished step of a sub-agent, printed by our plugin. */
  readonly ofSubAgent: boolean;
  /** It is the call of a sub-agent that has answered. */
  readonly askedSubAgent: boolean;
  readonly model: string | null;
  readonly provider: string | null;
  readonly entries: readonly Entry[];
}

// Some providers answer with a JSON document as the message; people want the sentence inside it.
function readable(message: string): string {
  const inner = parseFields(message.trim());
  if (!inner) return message;
  return textOf(fieldsOf(inner.error).message) || textOf(inner.message) || message;
}

function retryAfterOf(headers: Fields): number | null {
  const seconds = Number(textOf(headers["retry-after"]) || Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

function readError(value: unknown): CliError {
  if (typeof value === "string")
    return { name: "Error", message: readable(value), status: null, retryable: false, retryAfterSec: null, ref: null };
  const error = fieldsOf(value);
  const data = fieldsOf(error.data);
  const name = textOf(error.name) || "Error";
  return {
    name,
    message: readable(textOf(data.message) || textOf(error.message) || name),
    status: numberOrNull(data.statusCode) ?? numberOrNull(data.status),
    retryable: data.isRetryable === true,
    retryAfterSec: retryAfterOf(fieldsOf(data.responseHeaders)),
    ref: textOrNull(data.ref),
  };
}

// Names without a meaning are left out.
function errorEntry(error: CliError): Entry {
  const name = error.name === "Error" || error.name === "UnknownError" ? "" : error.name;
  const label = [name, error.status ?? ""].join(" ").trim();
  return { kind: "error", text: label === "" ? error.message : `${label}: ${error.message}`, error };
}

// OpenCode prints a tool only when it is over, so one event is both the call and its result.
function toolEntries(part: Fields): Entry[] {
  const state = fieldsOf(part.state);
  const input = fieldsOf(state.input);
  const id = textOf(part.callID);
  const tool = textOf(part.tool) || "tool";
  const isError = state.status === "error";
  const exitCode = numberOrNull(fieldsOf(state.metadata).exit);
  const subject = [input.command, input.filePath, input.path, input.pattern, input.url, state.title, input.description].map(textOf);
  const title = subject.find((text) => text !== "") ?? "";
  const text = isError ? textOf(state.error) : textOf(state.output);
  return [
    { kind: "tool_call", id, tool, title, input: state.input ?? {} },
    { kind: "tool_result", id, tool, text, isError, exitCode },
  ];
}

function stepEnd(part: Fields, ofSubAgent: boolean): Entry {
  const tokens = fieldsOf(part.tokens);
  const cache = fieldsOf(tokens.cache);
  return {
    kind: "step_end",
    reason: textOf(part.reason) || "unknown",
    goesOn: ofSubAgent || part.reason === "tool-calls",
    tokens: {
      input: countOf(tokens.input),
      cacheRead: countOf(cache.read),
      cacheWrite: countOf(cache.write),
      output: countOf(tokens.output),
      reasoning: countOf(tokens.reasoning),
    },
    costUsd: countOf(part.cost),
  };
}

function isAnsweredTask({ tool, state: given }: Fields): boolean {
  const { status, metadata } = fieldsOf(given);
  const { sessionId, background } = fieldsOf(metadata);
  return tool === "task" && status === "completed" && textOrNull(sessionId) !== null && background !== true;
}

function entriesOf(type: string, part: Fields, event: Fields, ofSubAgent: boolean): Entry[] {
  switch (type) {
    case "text":
      // OpenCode's own words to the model after a compaction are printed like an answer.
      if (part.synthetic === true) return [];
      return [{ kind: "assistant", text: textOf(part.text) }];
    case "reasoning":
      return [{ kind: "thinking", text: textOf(part.text) }];
    case "tool_use":
      return toolEntries(part);
    case "step_finish":
      return [stepEnd(part, ofSubAgent)];
    case "error":
      return [errorEntry(readError(event.error))];
    default:
      return [];
  }
}

const KNOWN = ["text", "reasoning", "tool_use", "step_start", "step_finish", "error"];

/** The event in a line; undefined for any other line, such as a tool's own output or half an event. */
export function readEvent(line: string): CliEvent | undefined {
  const event = parseFields(line.trim());
  const type = textOf(event?.type);
  if (!event || type === "") return undefined;
  const part = fieldsOf(event.part);
  const ofSubAgent = type === "step_finish" && textOrNull(event.subAgent) !== null;
  return {
    type,
    known: KNOWN.includes(type),
    ofSubAgent,
    askedSubAgent: type === "tool_use" && isAnsweredTask(part),
    sessionId: textOrNull(event.sessionID) ?? textOrNull(part.sessionID),
    partId: textOrNull(part.id),
    model: textOrNull(part.modelID) ?? textOrNull(event.modelID),
    provider: textOrNull(part.providerID) ?? textOrNull(event.providerID),
    entries: entriesOf(type, part, event, ofSubAgent),
  };
}

/** What the event in a line means to a reader; undefined = it is none that this adapter knows. */
export function readEntries(line: string): readonly Entry[] | undefined {
  const event = readEvent(line);
  return event?.known ? event.entries : undefined;
}

/**
 * Source of a regular expression for lines after which OpenCode normally has nothing more to do: a step that asks for no tool, or an error.
 * Not proof of the end: the summary step of a compaction looks the same and the work goes on after it, so that any later line takes the
 * word back. An overflow of the context is answered by a compaction and left out.
 */
export const finalLinePattern = String.raw`^\{"type":"(?:error",(?!.*"name":"ContextOverflowError")|step_finish",.*"reason":"(?!tool-calls"))`;
