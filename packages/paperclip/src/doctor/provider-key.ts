import type { KnownVariables } from "../agent-cli/agent-cli.ts";
import type { EnvironmentCheck } from "../host/types.ts";
import { check } from "./check.ts";

/** Whether one of these variables is set, by its name only. */
export function providerKey(provider: string, anyOf: readonly string[], known: KnownVariables): EnvironmentCheck {
  const found = anyOf.find((name) => known.names.has(name));
  if (found !== undefined) return check("info", "provider_key_found", `Key for ${provider}: ${found} is set`);
  const names = anyOf.join(" or ");
  if (known.sources.length > 0)
    return check(
      "info",
      "provider_key_unknown",
      `Key for ${provider}: ${names} is not set by name; it may come from ${known.sources.join(", ")}`,
    );
  const hint = `Set ${names} under Environment variables, or in the Paperclip server's own pod. A login kept in files of the image or the volume is not seen here.`;
  return check("warn", "provider_key_missing", `Key for ${provider}: no variable ${names}`, hint);
}
