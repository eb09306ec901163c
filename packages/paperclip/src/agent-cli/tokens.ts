import type { StepTokens } from "./entry.ts";

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
