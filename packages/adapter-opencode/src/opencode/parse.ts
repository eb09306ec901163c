import { createTextTail } from "@paperclip-k8s/paperclip/transcript/text-tail";
import { type CliError, type Entry, readEvent, type StepTokens } from "./events.ts";

/** What an OpenCode run has said so far. */
export interface OpenCodeResult {
  readonly sessionId: string | null;
  /** Everything the assistant said, its end when that is long. */
  readonly text: string;
  /** What it said last: the answer, where `text` also has the words between tool calls. */
  readonly lastText: string;
  readonly textDropped: number;
  readonly tokens: StepTokens;
  readonly costUsd: number;
  readonly steps: number;
  /** Reason of the last step: stop, tool-calls, length …; null when no step has ended. */
  readonly finishReason: string | null;
  readonly errors: readonly CliError[];
  /** Overflows of the context that a compaction answered and a finished step followed; the CLI exits with 1 all the same. */
  readonly recovered: readonly CliError[];
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly model: string | null;
  readonly provider: string | null;
  readonly lines: number;
  /** Lines that are no event: torn, or written by something else than OpenCode. */
  readonly unknownLines: number;
}

export interface OpenCodeParser {
  push(line: string): void;
  result(): OpenCodeResult;
}

const TEXT_LIMIT = 64 * 1024;
const ERRORS_KEPT = 16;
const MESSAGE_LIMIT = 4 * 1024;

const noTokens: StepTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

function addTokens(sum: StepTokens, step: StepTokens): StepTokens {
  return {
    input: sum.input + step.input,
    cacheRead: sum.cacheRead + step.cacheRead,
    cacheWrite: sum.cacheWrite + step.cacheWrite,
    output: sum.output + step.output,
    reasoning: sum.reasoning + step.reasoning,
  };
}

function createState() {
  return {
    sessionId: null as string | null,
    tokens: noTokens,
    costUsd: 0,
    steps: 0,
    finishReason: null as string | null,
    errors: [] as CliError[],
    recovered: [] as CliError[],
    toolCalls: 0,
    toolErrors: 0,
    model: null as string | null,
    provider: null as string | null,
    lines: 0,
    unknownLines: 0,
  };
}

// OpenCode repeats an error that ends two of its loops; the first one is the cause, so the first ones are kept.
function keepError(errors: CliError[], error: CliError): void {
  const message = error.message.slice(0, MESSAGE_LIMIT);
  if (errors.length >= ERRORS_KEPT || errors.some((known) => known.name === error.name && known.message === message)) return;
  errors.push({ ...error, message });
}

/** Reads a run's output line by line, in bounded memory, and can be asked at any time. */
export function createParser(): OpenCodeParser {
  const state = createState();
  const all = createTextTail(TEXT_LIMIT);
  let last = createTextTail(TEXT_LIMIT);
  let lastPartId: string | null = null;

  function settleOverflows(): void {
    const isOverflow = ({ name }: CliError) => name === "ContextOverflowError";
    for (const error of state.errors.filter(isOverflow)) keepError(state.recovered, error);
    state.errors = state.errors.filter((error) => !isOverflow(error));
  }

  function take(entry: Entry): void {
    switch (entry.kind) {
      case "assistant":
        if (entry.text.trim() === "") return;
        all.add(entry.text);
        last = createTextTail(TEXT_LIMIT);
        last.add(entry.text);
        return;
      case "tool_call":
        state.toolCalls += 1;
        return;
      case "tool_result":
        if (entry.isError) state.toolErrors += 1;
        return;
      case "step_end":
        state.steps += 1;
        state.finishReason = entry.reason;
        state.tokens = addTokens(state.tokens, entry.tokens);
        state.costUsd += entry.costUsd;
        if (entry.reason === "stop") settleOverflows();
        return;
      case "error":
        keepError(state.errors, entry.error);
    }
  }

  return {
    push(line) {
      if (line.trim() === "") return;
      state.lines += 1;
      const event = readEvent(line);
      if (!event) {
        state.unknownLines += 1;
        return;
      }
      state.sessionId = event.sessionId ?? state.sessionId;
      state.model = event.model ?? state.model;
      state.provider = event.provider ?? state.provider;
      // A part that is printed again must not be counted again.
      if (event.partId !== null && event.partId === lastPartId) return;
      lastPartId = event.partId ?? lastPartId;
      for (const entry of event.entries) take(entry);
    },
    result: () => ({
      ...state,
      errors: [...state.errors],
      recovered: [...state.recovered],
      text: all.read(),
      lastText: last.read(),
      textDropped: all.dropped,
    }),
  };
}
