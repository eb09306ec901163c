/** Tokens of every scripted answer: fixed, and different from each other so that a mix-up shows. */
export const usage = { uncachedInput: 400, cacheRead: 800, cacheWrite: 60, output: 45, reasoning: 12 } as const;

/** OpenAI counts cached tokens within the prompt's and reasoning within the completion's. */
export const openaiUsage = {
  prompt_tokens: usage.uncachedInput + usage.cacheRead,
  completion_tokens: usage.output + usage.reasoning,
  total_tokens: usage.uncachedInput + usage.cacheRead + usage.output + usage.reasoning,
  prompt_tokens_details: { cached_tokens: usage.cacheRead },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
};

/** Anthropic counts input, cache reads and cache writes apart, and reasoning as output. */
export const anthropicUsage = {
  input_tokens: usage.uncachedInput,
  cache_read_input_tokens: usage.cacheRead,
  cache_creation_input_tokens: usage.cacheWrite,
  output_tokens: usage.output + usage.reasoning,
};
