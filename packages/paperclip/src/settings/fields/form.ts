import { named } from "../field.ts";
import { toggle } from "../kinds/scalar.ts";

/** What the form itself keeps. */
export const formFields = named({
  showAllSettings: toggle({
    label: "Show all settings",
    default: false,
    doc: "the agent's page shows all settings, and not only those that most people set. Runs do not depend on it: what is set counts also while it is not shown",
  }),
});
