import type { StepTokens } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { countOf, type Fields, fieldsOf } from "@paperclip-k8s/paperclip/agent-cli/json-fields";

export const noTokens: StepTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/** Tokens of one message; thinking is counted as output. */
export function messageTokens(usage: Fields): StepTokens {
  return {
    input: countOf(usage.input_tokens),
    cacheRead: countOf(usage.cache_read_input_tokens),
    cacheWrite: countOf(usage.cache_creation_input_tokens),
    output: countOf(usage.output_tokens),
    reasoning: 0,
  };
}

/** Tokens and cost of a ledger by model, sub-agents included; null when there is no ledger. */
export function ledger(byModel: unknown): { readonly tokens: StepTokens; readonly costUsd: number } | null {
  if (typeof byModel !== "object" || byModel === null) return null;
  const models = Object.values(byModel).map(fieldsOf);
  const ofModel = (model: Fields): StepTokens => ({
    input: countOf(model.inputTokens),
    cacheRead: countOf(model.cacheReadInputTokens),
    cacheWrite: countOf(model.cacheCreationInputTokens),
    output: countOf(model.outputTokens),
    reasoning: 0,
  });
  return { tokens: models.map(ofModel).reduce(plus, noTokens), costUsd: models.reduce((sum, model) => sum + countOf(model.costUSD), 0) };
}

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
