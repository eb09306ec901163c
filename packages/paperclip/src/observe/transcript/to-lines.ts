import {
  type Entry,
  type InitEntry,
  noTokens,
  plus,
  type SpokenEntry,
  type StepEndEntry,
  type ToolResultEntry,
} from "../../agent-cli/entry.ts";
import { cleanText, joinLines, phrase } from "../clean-text.ts";
import { withoutUserNames } from "../home-paths.ts";
import { named } from "./call-name.ts";
import { fold, groupDigits } from "./fold.ts";
import { asForeign, mark, STATUS } from "./marks.ts";
import { OpenCalls } from "./open-calls.ts";
import { type Limits, shorten, shortLine } from "./shorten.ts";
import { foldTraces, StackTraces } from "./stack-traces.ts";
import { writeStep } from "./step-line.ts";

/** The most that is shown of one text; a model's answer is shorter. */
const SPOKEN_CHARS = 1024 * 1024;
/** The most entries that one line of a CLI's output may bring; an honest one brings a few. */
const MOST_ENTRIES = 1000;

// A line of the log stays below the 8192 characters that the host's live view takes at once, and is short enough to be read.
const OUTPUT: Limits = { first: 4, last: 2, chars: 200 };
const FAILED_OUTPUT: Limits = { first: 4, last: 6, chars: 200 };
const ERROR: Limits = { first: 4, last: 2, chars: 400 };
const FOREIGN_CHARS = 1000;

/**
 * What a CLI's output means, as the lines of its transcript: readable as they are, because that is how the host's page shows them, and read
 * back by `parseLine`. What is left out, shortened or folded is decided here and nowhere else.
 */
export class TranscriptLines {
  #last: Entry["kind"] | null = null;
  readonly #calls = new OpenCalls();
  readonly #traces = new StackTraces();
  #steps = { tokens: noTokens, costUsd: 0 };

  /** Adds lines without newlines to those that are shown; none when there is nothing to show. */
  push(all: readonly Entry[], shown: string[] = []): string[] {
    const left = all.length - MOST_ENTRIES;
    const entries = left <= 0 ? all : [...all.slice(0, MOST_ENTRIES), { kind: "other", text: `… ${left} more of the same line` } as const];
    for (const entry of entries) {
      const lines = this.#lines(entry);
      if (lines.length === 0) continue;
      if (entry.kind !== "other") add(this.#traces.end(), shown);
      if (entry.kind === this.#last) add(gap(entry.kind), shown);
      this.#last = entry.kind;
      add(lines, shown);
    }
    return shown;
  }

  /** What was held back until its end is known. */
  end(): string[] {
    return this.#traces.end();
  }

  #lines(entry: Entry): string[] {
    switch (entry.kind) {
      case "assistant":
      case "thinking":
        return spoken(entry);
      case "tool_call":
        return [`${mark.call} ${this.#calls.begin(entry)}`];
      case "tool_result":
        return [toolResult(entry, this.#calls.end(entry.id))];
      case "step_end":
        return this.#step(entry);
      case "error":
        return [`${mark.error} ${fold(shorten(foldTraces(withoutUserNames(cleanText(entry.text))), ERROR))}`.trimEnd()];
      case "init":
        return [init(entry)];
      case "status":
        return [status(joinLines(cleanText(entry.text)))];
      case "other":
        return this.#foreign(entry.text);
    }
  }

  #foreign(text: string): string[] {
    const line = shortLine(joinLines(cleanText(text)), FOREIGN_CHARS);
    return line === "" ? [] : this.#traces.push(asForeign(line));
  }

  /** A step that leads to the next one is no line of its own: what it used is in the line of the last one. */
  #step({ reason, goesOn, tokens, costUsd }: StepEndEntry): string[] {
    const used = { tokens: plus(this.#steps.tokens, tokens), costUsd: this.#steps.costUsd + costUsd };
    this.#steps = goesOn ? used : { tokens: noTokens, costUsd: 0 };
    return goesOn ? [] : [`${mark.stepEnd} ${writeStep(phrase(reason), used.tokens, used.costUsd)}`];
  }
}

/** One by one: a text may have more lines than a call can have arguments. */
function add(lines: readonly string[], shown: string[]): void {
  for (const line of lines) shown.push(line);
}

// The host joins texts of one kind that follow each other; an empty line keeps them apart as paragraphs.
function gap(kind: Entry["kind"]): readonly string[] {
  if (kind === "assistant") return [mark.assistantMore];
  return kind === "thinking" ? [mark.thinkingMore] : NOTHING;
}

const NOTHING: readonly string[] = [];

// Outer blank lines go, and so does white space at the ends of lines: the host would trim it anyway.
function spoken({ kind, text }: SpokenEntry): string[] {
  const lines = withoutMiddle(cleanText(text))
    .split("\n")
    .map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== "");
  if (first === -1) return [];
  const last = lines.findLastIndex((line) => line !== "");
  const [begin, more] = kind === "assistant" ? [mark.assistant, mark.assistantMore] : [mark.thinking, mark.thinkingMore];
  return lines.slice(first, last + 1).map((line, index) => `${index === 0 ? begin : more} ${line}`.trimEnd());
}

/** A text of any length without its middle. */
function withoutMiddle(text: string): string {
  const missing = text.length - SPOKEN_CHARS;
  if (missing <= 0) return text;
  const half = SPOKEN_CHARS / 2;
  return `${text.slice(0, half).toWellFormed()}\n[… ${groupDigits(missing)} characters left out …]\n${text.slice(-half).toWellFormed()}`;
}

function toolResult({ text, isError, exitCode }: ToolResultEntry, call: string | null): string {
  const isFailure = isError || (exitCode !== null && exitCode !== 0);
  const shown = fold(shorten(cleanText(text), isFailure ? FAILED_OUTPUT : OUTPUT));
  const exit = exitCode === null || exitCode === 0 ? "" : `exit ${exitCode}`;
  const said = [exit, shown].filter((part) => part !== "").join(": ") || "(no output)";
  // An output that begins like a name gets an empty one before it.
  const whole = call !== null || said.startsWith("‹") ? named(call ?? "", said) : said;
  return `${isFailure ? mark.failure : mark.success} ${whole}`;
}

function init({ sessionId, model }: InitEntry): string {
  const parts = [sessionId === "" ? "" : `session ${phrase(sessionId)}`, model === "" ? "" : `model ${phrase(model)}`];
  return `${mark.init} ${parts.filter((part) => part !== "").join(" · ")}`.trimEnd();
}

const status = (line: string): string => (line.startsWith(STATUS) ? line : `${STATUS} ${line}`.trimEnd());
