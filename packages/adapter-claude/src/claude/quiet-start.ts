import type { CliTurn } from "@paperclip-k8s/paperclip";
import { isElsewhere } from "./provider.ts";

const QUIET = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC";
/** Who sets one of these has decided about it, or has telemetry of their own that it would end. */
const DECIDED = [QUIET, "CLAUDE_CODE_ENABLE_TELEMETRY", "CLAUDE_CODE_OAUTH_TOKEN", "DISABLE_TELEMETRY", "DISABLE_GROWTHBOOK"];

/**
 * Where the model is not at Anthropic, the pod may have no way there, and Claude Code would wait ten seconds for its feature flags before its
 * first line. At Anthropic they are answered, and decide among others how long prompts are cached: there they stay.
 */
export function quietStart({ env, maybeSet }: Pick<CliTurn, "env" | "maybeSet">): Readonly<Record<string, string>> {
  const decided = DECIDED.some((name) => env.names.has(name) || env.values[name] !== undefined || maybeSet.has(name));
  return decided || !isElsewhere(env.values) ? {} : { [QUIET]: "1" };
}
