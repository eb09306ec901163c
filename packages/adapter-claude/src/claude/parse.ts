import { type Entry, foreignLine, minus, noTokens, plus, type StepTokens } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { keepEnd } from "@paperclip-k8s/paperclip/agent-cli/keep-end";
import { UnknownEvents } from "@paperclip-k8s/paperclip/agent-cli/unknown-events";
import { type ApiFault, type ClaudeEvent, type MessageUsage, readEvent } from "./events.ts";
import type { TurnResult } from "./turn-result.ts";

/** What is known of a Claude Code run so far. */
export interface ClaudeRun {
  readonly sessionId: string | null;
  readonly model: string | null;
  /** The assistant's last text. */
  readonly lastText: string;
  /** The last result event; null when there is none, or when the run goes on after it. */
  readonly result: TurnResult | null;
  /** The last error of the API, or the reason of the last retry. */
  readonly fault: ApiFault | null;
  readonly resetsAt: number | null;
  /** By the results' ledgers, and what was used after the last one. */
  readonly tokens: StepTokens;
  readonly costUsd: number | null;
  readonly usedTools: boolean;
  /** Those of known types. */
  readonly events: number;
  /** Why the output as a whole cannot be read; null = it can. */
  readonly unreadable: string | null;
}

interface ClaudeParser {
  /** Takes a line in, and gives what it means to a reader. */
  push(line: string): readonly Entry[];
  run(): ClaudeRun;
}

const TEXT_LIMIT = 64 * 1024;
const MESSAGES_KEPT = 64;

/** Sums what messages have used; of one that is reported several times the last report counts. */
class MessageSum {
  total: StepTokens = noTokens;
  readonly #last = new Map<string, StepTokens>();

  add({ id, tokens }: MessageUsage): void {
    this.total = plus(this.total, minus(tokens, this.#last.get(id) ?? noTokens));
    this.#last.delete(id);
    this.#last.set(id, tokens);
    const oldest = this.#last.keys().next().value;
    if (this.#last.size > MESSAGES_KEPT && oldest !== undefined) this.#last.delete(oldest);
  }
}

/** Reads a run's output line by line, in bounded memory, and can be asked at any time. */
export function createParser(): ClaudeParser {
  const state = {
    sessionId: null as string | null,
    model: null as string | null,
    result: null as TurnResult | null,
    fault: null as ApiFault | null,
    resetsAt: null as number | null,
    costUsd: null as number | null,
    usedTools: false,
    events: 0,
  };
  const unknown = new UnknownEvents();
  let version: string | null = null;
  let lastText = "";
  let counted: StepTokens = noTokens;
  let since = new MessageSum();

  function take(event: ClaudeEvent): void {
    state.sessionId = event.sessionId ?? state.sessionId;
    state.model = (event.isMain ? event.model : null) ?? state.model;
    state.resetsAt = event.resetsAt ?? state.resetsAt;
    if (event.begins) state.result = null;
    if (event.fault !== null) state.fault = event.fault;
    // An answer after a retry: the problem is over.
    else if (event.usage !== null) state.fault = null;
    if (event.usage !== null) since.add(event.usage);
    state.usedTools ||= event.entries.some(({ kind }) => kind === "tool_call");
    const texts = event.isMain ? event.entries.flatMap((entry) => (entry.kind === "assistant" ? [entry.text] : [])) : [];
    lastText = texts.findLast((text) => text.trim() !== "") ?? lastText;
    if (event.result !== null) takeResult(event.result);
  }

  function takeResult(result: TurnResult): void {
    const { basis, tokens, costUsd } = result.used;
    const before = basis === "turn" ? { tokens: counted, costUsd: state.costUsd ?? 0 } : { tokens: noTokens, costUsd: 0 };
    state.result = result;
    state.model ??= result.model;
    state.costUsd = costUsd === null ? state.costUsd : before.costUsd + costUsd;
    counted = plus(before.tokens, tokens);
    since = new MessageSum();
  }

  return {
    push(line) {
      const event = readEvent(line);
      if (!event) return foreignLine(line);
      if (!event.known) return unknown.add(event.type, version);
      state.events += 1;
      version = event.version ?? version;
      take(event);
      return event.entries;
    },
    run() {
      const text = (state.result?.succeeded ? state.result.text : "") || lastText;
      return {
        ...state,
        lastText: keepEnd(text, TEXT_LIMIT),
        tokens: plus(counted, since.total),
        unreadable: unknown.problem(state.events),
      };
    },
  };
}
