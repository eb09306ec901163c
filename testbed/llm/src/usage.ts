/** Tokens of every scripted answer: fixed, and different from each other so that a mix-up shows. */
export const usage = { uncachedInput: 400, cacheRead: 800, cacheWrite: 60, output: 45, reasoning: 12 } as const;

// A silent answer has no output tokens.

/** OpenAI counts cached tokens within the prompt's and reasoning within the completion's. */
export function openaiUsage(weight = 1, silent = false) {
  const prompt = (usage.uncachedInput + usage.cacheRead) * weight;
  const completion = silent ? 0 : usage.output + usage.reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead * weight },
    completion_tokens_details: { reasoning_tokens: silent ? 0 : usage.reasoning },
  };
}

/** Anthropic counts input, cache reads and cache writes apart, and reasoning as output. */
export function anthropicUsage(weight = 1, silent = false) {
  return {
    input_tokens: usage.uncachedInput * weight,
    cache_read_input_tokens: usage.cacheRead * weight,
    cache_creation_input_tokens: usage.cacheWrite * weight,
    output_tokens: silent ? 0 : usage.output + usage.reasoning,
  };
}
