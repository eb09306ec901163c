/** Tokens of one step, counted apart: cache reads and writes are not in `input`, reasoning is not in `output`. */
export interface StepTokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

export const noTokens: StepTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

export const plus = (a: StepTokens, b: StepTokens): StepTokens => combine(a, b, (x, y) => x + y);
export const minus = (a: StepTokens, b: StepTokens): StepTokens => combine(a, b, (x, y) => x - y);

function combine(a: StepTokens, b: StepTokens, join: (x: number, y: number) => number): StepTokens {
  return {
    input: join(a.input, b.input),
    cacheRead: join(a.cacheRead, b.cacheRead),
    cacheWrite: join(a.cacheWrite, b.cacheWrite),
    output: join(a.output, b.output),
    reasoning: join(a.reasoning, b.reasoning),
  };
}

export interface SpokenEntry {
  readonly kind: "assistant" | "thinking";
  readonly text: string;
}

export interface ToolCallEntry {
  readonly kind: "tool_call";
  /** Ties the result to its call. */
  readonly id: string;
  readonly tool: string;
  /** What a reader wants to see of the input first: the command, the file. */
  readonly title: string;
  readonly input: unknown;
}

export interface ToolResultEntry {
  readonly kind: "tool_result";
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
  readonly exitCode: number | null;
}

export interface StepEndEntry {
  readonly kind: "step_end";
  readonly reason: string;
  /** The CLI goes on after this step without being asked. */
  readonly goesOn: boolean;
  readonly tokens: StepTokens;
  readonly costUsd: number;
}

export interface InitEntry {
  readonly kind: "init";
  readonly model: string;
  readonly sessionId: string;
}

export interface PlainEntry {
  /** `error`: of the CLI itself; `status`: a line of ours; `other`: a line that is no event. */
  readonly kind: "error" | "status" | "other";
  readonly text: string;
}

/** What a CLI's output means to a reader, free of that CLI's format. */
export type Entry = SpokenEntry | ToolCallEntry | ToolResultEntry | StepEndEntry | InitEntry | PlainEntry;

/** A line that is no event of the CLI, as a reader sees it. */
export function foreignLine(line: string): readonly Entry[] {
  const text = line.trim();
  return text === "" ? [] : [{ kind: "other", text }];
}
