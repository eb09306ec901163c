import type { ScriptedModel, ScriptedOptions } from "@paperclip-k8s/llm";

export function scriptedModel({ url }: { readonly url: string }, { apiKey = "not-a-key" }: ScriptedOptions = {}): ScriptedModel {
  return {
    model: "claude-sonnet-5",
    provider: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: apiKey },
    offline: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "1",
      // All tools in every request, so that the script can call any.
      ENABLE_TOOL_SEARCH: "false",
      // A pod's user is never root; a process of the embedded cluster may be.
      IS_SANDBOX: "1",
    },
  };
}
