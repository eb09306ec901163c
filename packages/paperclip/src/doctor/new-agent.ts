import type { EnvironmentCheck } from "../host/types.ts";
import { isUnset, type Raw } from "../settings/field.ts";
import { agentFields } from "../settings/fields/agent.ts";
import type { CheckCode } from "./catalogue.ts";

/** The host's page for a new agent has a field for the model and no other; a saved agent has at least the places of its instructions. */
export function isNewAgent(config: Raw): boolean {
  return Object.entries(config).every(([key, value]) => key === agentFields.model.key || isUnset(value, "text") || isEmpty(value));
}

const isEmpty = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

const FINISH_SETUP_FIRST =
  "No run can work before that; this page has no field for it. Finish the setup, then continue on the agent's settings page.";

/** On that page an error keeps people from finishing the setup, so what they can fix only afterwards is a warning. */
export function forNewAgent(checks: readonly EnvironmentCheck[]): readonly EnvironmentCheck[] {
  return checks.map((found) =>
    found.level !== "error" || found.code === ("model_invalid" satisfies CheckCode)
      ? found
      : { ...found, level: "warn", hint: [found.hint, FINISH_SETUP_FIRST].filter(Boolean).join(" ") },
  );
}
