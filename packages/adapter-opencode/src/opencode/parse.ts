import { foreignLine, noTokens, plus, type StepEndEntry, type Entry as TranscriptEntry } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { keepEnd } from "@paperclip-k8s/paperclip/agent-cli/keep-end";
import { UnknownEvents } from "@paperclip-k8s/paperclip/agent-cli/unknown-events";
import { type CliError, type CliEvent, type Entry, readEvent, type StepTokens } from "./events.ts";

/** What is known of an OpenCode run so far. */
export interface OpenCodeResult {
  readonly sessionId: string | null;
  /** The assistant's last text, which is the answer; its end when that is long. */
  readonly lastText: string;
  /** With those of sub-agents, as is the cost. */
  readonly tokens: StepTokens;
  readonly costUsd: number;
  /** Of the run's own session. */
  readonly steps: number;
  readonly subAgentSteps: number;
  readonly usedTools: boolean;
  /** Reason of the last step: stop, tool-calls, length …; null when no step has ended. */
  readonly finishReason: string | null;
  readonly errors: readonly CliError[];
  /** Overflows of the context that a compaction answered and a finished step followed; the CLI exits with 1 all the same. */
  readonly recovered: readonly CliError[];
  readonly model: string | null;
  readonly provider: string | null;
  /** Those of known types. */
  readonly events: number;
  /** Why the output as a whole cannot be read; null = it can. */
  readonly unreadable: string | null;
}

interface OpenCodeParser {
  /** Takes a line in, and gives what it means to a reader. */
  push(line: string): readonly TranscriptEntry[];
  result(): OpenCodeResult;
}

const TEXT_LIMIT = 64 * 1024;
const ERRORS_KEPT = 16;
const MESSAGE_LIMIT = 4 * 1024;
/** More than sub-agents finish between a step and its repetition. */
const STEPS_KEPT = 256;
const UNCOUNTED =
  "warning: tokens and cost of sub-agents are not counted: OpenCode has not loaded the adapter's plugin (docs/results.md says when it does)";

function createState() {
  return {
    sessionId: null as string | null,
    tokens: noTokens,
    costUsd: 0,
    steps: 0,
    subAgentSteps: 0,
    usedTools: false,
    finishReason: null as string | null,
    errors: [] as CliError[],
    recovered: [] as CliError[],
    model: null as string | null,
    provider: null as string | null,
    events: 0,
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
  const unknown = new UnknownEvents();
  let lastText = "";
  const counted = new Set<string>();
  let isWarned = false;

  // A part that is printed again must not be counted again.
  function count({ tokens, costUsd }: StepEndEntry, partId: string | null, of: "steps" | "subAgentSteps"): void {
    if (partId !== null && counted.has(partId)) return;
    if (partId !== null) counted.add(partId);
    if (counted.size > STEPS_KEPT) counted.delete(counted.values().next().value!);
    state[of] += 1;
    state.tokens = plus(state.tokens, tokens);
    state.costUsd += costUsd;
  }

  function settleOverflows(): void {
    const isOverflow = ({ name }: CliError) => name === "ContextOverflowError";
    for (const error of state.errors.filter(isOverflow)) keepError(state.recovered, error);
    state.errors = state.errors.filter((error) => !isOverflow(error));
  }

  function take(entry: Entry, partId: string | null): void {
    switch (entry.kind) {
      case "assistant":
        if (entry.text.trim() !== "") lastText = keepEnd(entry.text, TEXT_LIMIT);
        return;
      case "tool_call":
        state.usedTools = true;
        return;
      case "step_end":
        count(entry, partId, "steps");
        state.finishReason = entry.reason;
        if (entry.reason === "stop") settleOverflows();
        return;
      case "error":
        keepError(state.errors, entry.error);
    }
  }

  /** Of the run's own session it says nothing. */
  function takeSubAgents({ entries, partId }: CliEvent): readonly TranscriptEntry[] {
    for (const entry of entries) if (entry.kind === "step_end") count(entry, partId, "subAgentSteps");
    return entries;
  }

  /** A sub-agent that has answered has finished a step. */
  function warnOfUncounted({ askedSubAgent }: CliEvent): readonly TranscriptEntry[] {
    if (!askedSubAgent || isWarned || state.subAgentSteps > 0) return [];
    isWarned = true;
    return [{ kind: "status", text: UNCOUNTED }];
  }

  return {
    push(line) {
      const event = readEvent(line);
      if (!event) return foreignLine(line);
      if (!event.known) return unknown.add(event.type);
      if (event.ofSubAgent) return takeSubAgents(event);
      state.events += 1;
      state.sessionId = event.sessionId ?? state.sessionId;
      state.model = event.model ?? state.model;
      state.provider = event.provider ?? state.provider;
      for (const entry of event.entries) take(entry, event.partId);
      return [...event.entries, ...warnOfUncounted(event)];
    },
    result: () => ({
      ...state,
      errors: [...state.errors],
      recovered: [...state.recovered],
      lastText,
      unreadable: unknown.problem(state.events),
    }),
  };
}
