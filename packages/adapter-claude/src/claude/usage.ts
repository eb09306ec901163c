import { noTokens, plus, type StepTokens } from "@paperclip-k8s/paperclip/agent-cli/entry";
import { countOf, type Fields, fieldsOf } from "@paperclip-k8s/paperclip/agent-cli/json-fields";

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
